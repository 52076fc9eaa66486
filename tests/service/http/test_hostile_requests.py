"""What nobody should send: wrong hosts, huge or deep or random bodies, tricks with paths, heads without end."""

import random
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest

from service.servers import Client, Server, serving

ASK = "/v1/tournaments/t/ask"
JSON = {"Content-Type": "application/json"}
BODIES = (ASK, "/v1/tournaments/t/tell", "/v1/tournaments", "/v1/tournaments/t/show", "/v1/tournaments/t:pause")


@pytest.fixture(autouse=True, scope="module")
def _tournament(server: Server) -> None:
    with server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]})


def raw(port: int, sent: bytes, *, wait: float = 5.0) -> bytes:
    """All that is answered to some bytes."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=wait)) as connection:
        parts = []
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                parts.append(part)
        except OSError:
            pass  # it has closed the connection, or says no more
        return b"".join(parts)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:80", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("localhost:80:80", 400),
        ("[::1", 400),
        ("", 400),
        ("2130706433", 400),
        ("127.0.0.1@evil.example", 400),
    ],
)
def test_only_known_hosts(client: Client, host: str, status: int) -> None:
    answer = client.send("GET", "/livez", headers={"Host": host})
    assert answer.status == status
    if status == 400:
        assert answer.problem == "bad-host"


def test_two_hosts_are_none(server: Server) -> None:
    assert b"bad-request" in raw(server.port, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n")
    assert b" 400 " in raw(server.port, b"GET /livez HTTP/1.0\r\n\r\n")


def test_every_answer_has_the_usual_headers(client: Client) -> None:
    for answer in (client.get("/livez"), client.get("/nothing"), client.post(ASK, {}), client.get(ASK)):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert not {"server", "access-control-allow-origin", "set-cookie"} & answer.headers.keys()


def test_cors_is_closed(client: Client) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = client.send("OPTIONS", ASK, headers=headers)
    assert (answer.status, answer.problem) == (405, "wrong-method")
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"])
def test_a_form_of_another_site_is_no_json(client: Client, media: str) -> None:
    answer = client.send("POST", ASK, b"{}", {"Content-Type": media}, raw=True)
    assert (answer.status, answer.problem) == (415, "wrong-media-type")


def test_large_bodies(server: Server, client: Client) -> None:
    almost = b'{"query_id":"' + b"x" * 999_900 + b'"}'
    assert client.send("POST", ASK, almost, JSON, raw=True).status == 422
    answer = client.send("POST", ASK, b" " * 1_000_001, JSON, raw=True)
    assert (answer.status, answer.problem) == (413, "too-large")
    head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
    assert b" 413 " in raw(server.port, head + b"Content-Length: 99999999999\r\n\r\n{}")
    chunk = b"%x\r\n" % 500_000 + b" " * 500_000 + b"\r\n"
    answer_or_end = raw(server.port, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 3)
    assert answer_or_end == b"" or b" 413 " in answer_or_end
    assert client.get("/livez").status == 200


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    "deep",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"query_id":' + b"[" * 400_000 + b"]" * 400_000 + b"}",
        b'{"shown":' + b"[" * 400_000 + b"]" * 400_000 + b"}",
        b'{"shown":{"a":' * 50_000,
        b'{"parameters":{"a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_002,
        b'{"reason":' + b"[" * 50_000,
        b'{"duel":"1-1","clicks":[],"shown":{"documents":' + b"[" * 900 + b"]" * 900 + b"}}",
    ],
    ids=lambda deep: deep[:20].decode(),
)
def test_deep_json(client: Client, path: str, deep: bytes) -> None:
    answer = client.send("POST", path, deep, JSON, raw=True)
    assert answer.status in (400, 422), answer
    assert answer.problem in ("bad-request", "bad-value", "too-deep")


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 500_000, "1" * 30 + ".5", "NaN", "Infinity", "0x10"])
def test_huge_numbers(client: Client, path: str, number: str) -> None:
    for field in ("n", "seed", "share", "expires_after", "delta", "name", "clicks", "in_flight_cap"):
        answer = client.send("POST", path, f'{{"{field}":{number}}}'.encode(), JSON, raw=True)
        assert answer.status in (400, 422), answer
    answer = client.send("POST", path, number.encode(), JSON, raw=True)
    assert answer.status in (400, 422), answer


@pytest.mark.parametrize("path", BODIES)
def test_random_bytes(client: Client, path: str) -> None:
    chance = random.Random(path)
    alphabet = b'{}[]",:0123456789eE+-.truefalsn\\ud800\xff\x00 '
    for _ in range(150):
        size = chance.randrange(1, 200)
        body = chance.randbytes(size) if chance.random() < 0.5 else bytes(chance.choices(alphabet, k=size))
        answer = client.send("POST", path, body, JSON, raw=True)
        assert answer.status in (400, 422), (body, answer)
        assert answer.problem in ("bad-request", "bad-value", "too-deep")


def test_bytes_that_are_no_http(server: Server) -> None:
    chance = random.Random(7)
    for _ in range(100):
        answer = raw(server.port, chance.randbytes(chance.randrange(1, 500)) + b"\r\n\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    with server.client as client:
        assert client.get("/livez").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "//",
        "/v1",
        "/v1/",
        "/v1/tournaments/",
        "/v1/tournaments//ask",
        "/v1/tournaments/t/",
        "/v1/tournaments/../../etc/passwd",
        "/v1/tournaments/..%2f..%2fetc%2fpasswd",
        "/v1/tournaments/%2e%2e",
        "/v1/tournaments/t%00",
        "/v1/tournaments/t%ff",
        "/v1/tournaments/%",
        "/v1/tournaments/%zz",
        "/v1/tournaments/" + "x" * 5_000,
        "/v1/tournaments/t/duels/file:%2f%2f%2fetc:void",
        "/v1/tournaments/http:%2f%2fevil.example%2f",
        "/v1/tournaments/t';DROP TABLE duels;--".replace(" ", "%20"),
        "/V1/tournaments",
        "/v1/tournaments;x=1",
        "http://evil.example/v1/tournaments/nobody",
        "/v1/tournaments/t:start:stop",
        "/v1/tournaments/t:explode",
    ],
)
def test_tricks_with_paths(client: Client, path: str) -> None:
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
        answer = client.send(method, path, {} if method == "POST" else None)
        assert answer.status in (400, 404, 405, 415, 422), (method, answer)
        assert answer.problem
    assert client.get("/v1/tournaments/t").status == 200


def test_a_head_without_end_is_cut_off(server: Server) -> None:
    endless = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: " + b"a" * 200_000
    answer = raw(server.port, endless)
    assert answer == b"" or b" 431 " in answer  # a client that is still sending may see no more than the end
    many = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: a\r\n" * 50_000
    assert b" 200 " not in raw(server.port, many)
    with server.client as client:
        assert client.get("/livez").status == 200


@pytest.mark.slow
def test_a_head_that_does_not_come_is_given_up(server: Server) -> None:
    waiting = []
    for sent in (
        b"",
        b"GET /livez HT",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHos",
    ):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        connection.sendall(sent)
        waiting.append(connection)
    for connection in waiting:
        while connection.recv(65_536):
            pass  # whole requests are answered, then the server closes
        connection.close()


@pytest.mark.slow
def test_a_body_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/duels.db", deadline=0.3) as server:
        with server.client as client:
            client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]})
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as connection:
            head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
            connection.sendall(head.encode() + b"\r\n{")
            started = time.monotonic()
            answer = b""
            while part := connection.recv(65_536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"/problems/deadline" in answer
        assert time.monotonic() - started < 15


def test_clients_that_leave_harm_nobody(server: Server) -> None:
    head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    for sent in (b"", b"POST", head.encode(), head.encode() + b"{", head.encode() + b"{}"):
        for _ in range(5):
            with closing(socket.create_connection(("127.0.0.1", server.port), timeout=5)) as connection:
                connection.sendall(sent)
    with server.client as client:
        assert client.post(ASK, {}).status == 200
