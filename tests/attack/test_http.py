"""HTTP requests made to exhaust the server, by huge heads or slow parsing, and headers that lie."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attack.sockets import ASK, GET, POST, answered
from rankduel.live import storage_at
from rankduel.service import new_key
from rankduel.service.app import make_app
from rankduel.service.auth.keys import ApiKeys, Key
from rankduel.service.auth.sessions import Sessions
from rankduel.service.http.hosts import Hosts
from rankduel.service.http.protocol import HEAD_BYTES
from rankduel.service.settings import ServiceSettings
from service.servers import Client, Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without keys, with the tournament `t`."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('http')}/duels.db") as server:
        with server.client as client:
            assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]}).status == 201
        yield server
        assert not [line for line in server.lines if "Traceback" in line]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client as client:
        yield client


# Time before authentication


def seconds(work: Callable[[int], object], size: int, tries: int) -> float:
    """The least CPU time of some tries."""
    least = float("inf")
    for _ in range(tries):
        started = time.process_time()
        work(size)
        least = min(least, time.process_time() - started)
    return least


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether twice the size takes less than three times as long (four times: quadratic), or a millisecond more."""
    return any(seconds(work, 2 * size, tries) < 3 * seconds(work, size, tries) + 0.001 for tries in (2, 5, 10))


@pytest.mark.parametrize("unit", [b"\\", b'"', b";", b"=", b" ", b"rankduel_session", b"a=b; ", b"\\073", b'a="\\'])
def test_cookies_are_read_in_linear_time(unit: bytes) -> None:
    """Whatever is repeated in a Cookie header, twice as much takes about twice as long."""
    sessions, api_keys = Sessions(b"secret", 60), ApiKeys(())

    def read(size: int) -> None:
        sessions.key_of({b"cookie": b'a="' + unit * (size // len(unit)) + b'"'}, "GET", api_keys)

    assert grows_linearly(read, HEAD_BYTES // 2)


def test_our_cookie_is_found_among_others() -> None:
    """A session is recognised wherever its cookie stands, and others' names or values do not pass for it."""
    sessions = Sessions(b"secret", 60)
    key = Key("a1", "ann", ("read",), "")

    class Ring(ApiKeys):
        def by_id(self, id: str) -> Key | None:
            return key if id == "a1" else None

    value = sessions.new_cookie(key, secure=False).partition(b";")[0]
    for header in (
        value,
        b"a=b; " + value,
        value + b"; a=b",
        b'a="x\\";' + value,
        b"a=b;" + value + b" ;c",
        b";;" + value,
    ):
        assert sessions.key_of({b"cookie": header}, "GET", Ring(())) == key
    for header in (b"", b"x_" + value, value.replace(b"=", b"", 1), b"a=" + value, value.upper()):
        assert sessions.key_of({b"cookie": header}, "GET", Ring(())) is None


HOSTILE: dict[str, Callable[[int], tuple[str, str, list[tuple[bytes, bytes]]]]] = {
    "path of colons": lambda n: ("/v1/tournaments/" + ":" * n, "", []),
    "path of slashes": lambda n: ("/" * n, "", []),
    "path of escapes": lambda n: ("/v1/tournaments/" + "%2F" * (n // 3), "", []),
    "path of bad escapes": lambda n: ("/t/" + "%" * n, "", []),
    "query of fields": lambda n: ("/v1/tournaments", "a=b&" * (n // 4), []),
    "query of escapes": lambda n: ("/v1/tournaments", "cursor=" + "%41" * (n // 3), []),
    "host of colons": lambda n: ("/livez", "", [(b"host", b":" * n)]),
    "host of brackets": lambda n: ("/livez", "", [(b"host", b"[" * n)]),
    "host of an address": lambda n: ("/livez", "", [(b"host", b"[" + b"::1" * (n // 3))]),
    "authorization": lambda n: ("/v1/tournaments", "", [(b"authorization", b"Bearer " + b"_" * n)]),
    "authorization of spaces": lambda n: ("/v1/tournaments", "", [(b"authorization", b"Bearer" + b" " * n + b"x")]),
    "cookie": lambda n: ("/v1/tournaments", "", [(b"cookie", b'a="' + b"\\" * n + b'"')]),
    "our cookie": lambda n: ("/v1/tournaments", "", [(b"cookie", b"rankduel_session=" + b"." * n)]),
    "many headers": lambda n: ("/v1/tournaments", "", [(b"x%d" % k, b"y") for k in range(n // 6)]),
    "the same header": lambda n: ("/v1/tournaments", "", [(b"x", b"y")] * (n // 6)),
    "accept": lambda n: ("/nothing", "", [(b"accept", b"text/" * (n // 5))]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_refusals_take_linear_time(tmp_path: Path, kind: str) -> None:
    """Requests without a key are refused in time that grows with their size, not with its square."""
    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    new_key(storage, "one", ["admin"])
    storage.close()
    app = make_app(url, ServiceSettings(wrong_keys=1e6, wrong_keys_burst=1e6))
    statuses = set()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        statuses.add(message.get("status", 0))

    with asyncio.Runner() as runner:
        runner.run(app.service.start())

        def refuse(size: int) -> None:
            path, query, headers = HOSTILE[kind](size)
            headers = [(b"host", b"localhost"), *headers] if headers[:1] and headers[0][0] != b"host" else headers
            scope = {
                "type": "http",
                "method": "GET",
                "raw_path": path.encode(),
                "query_string": query.encode(),
                "headers": headers or [(b"host", b"localhost")],
                "client": ("203.0.113.7", 1),
            }
            runner.run(app(scope, receive, send))

        assert grows_linearly(refuse, HEAD_BYTES // 2)
        runner.run(app.service.stop())
    assert max(statuses) in (200, 400, 401, 404, 422, 429)


# Size of a head


def head_of(size: int, line: bytes = b"GET /livez HTTP/1.1\r\n") -> bytes:
    """A head of so many bytes."""
    start = line + b"Host: localhost\r\nX-A: "
    return start + b"a" * (size - len(start) - 4) + b"\r\n\r\n"


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def test_heads_up_to_the_limit_are_served(server: Server) -> None:
    """Exactly 32,768 bytes are taken, however they are cut into packets, and with a body in the last one."""
    whole = head_of(HEAD_BYTES)
    assert len(whole) == HEAD_BYTES
    for packets in ([whole], cut(whole, 1000), [whole[:-1], whole[-1:]]):
        assert b" 200 " in answered(server.port, *packets)
    line = f"POST {ASK} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n".encode()
    assert b" 200 " in answered(server.port, head_of(HEAD_BYTES, line) + b"{}")


@pytest.mark.parametrize("size", [HEAD_BYTES + 1, 40_000, 100_000, 300_000])
def test_larger_heads_are_refused(server: Server, size: int) -> None:
    """One byte more is answered 431, in one packet, in many, as one header or many, with spaces, or with a body.

    A client that is still sending when the server closes may miss the answer.
    """
    line = f"POST {ASK} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n".encode()
    spaces = GET + b"X-A:" + b" " * (size - len(GET) - 9) + b"a\r\n\r\n"
    many = GET + b"X-A: a\r\n" * (size // 8) + b"\r\n"
    url = b"GET /livez?" + b"a" * size + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    cookie = GET + b'Cookie: a="' + b"\\" * size + b"\r\n\r\n"
    empty = b"\r\n" * (size // 2) + GET + b"\r\n"
    for whole in (head_of(size), head_of(size, line) + b"{}", spaces, many, url, cookie, empty):
        answer = answered(server.port, whole)
        assert answer.startswith(b"HTTP/1.1 431 ") or (answer == b"" and size > 2 * HEAD_BYTES), whole[:60]
        assert b" 200 " not in answer
    assert b" 200 " not in answered(server.port, *cut(head_of(size), 5000))


@pytest.mark.parametrize("size", [40_000, 100_000])
def test_larger_heads_behind_other_requests_are_refused(server: Server, size: int) -> None:
    """A head that follows another request, or its body, in the same packet has the same limit (within 4 kB)."""
    for before in (
        GET + b"\r\n",
        POST + b"Content-Length: 2\r\n\r\n{}",
        POST + b"Content-Length: 9000\r\n\r\n" + b" " * 9000,
    ):
        assert answered(server.port, before + head_of(size)).count(b" 200 ") <= 1
        assert answered(server.port, before, head_of(size), pause=0.2).count(b" 200 ") <= 1


def test_chunked_bodies_have_no_endless_lines(server: Server) -> None:
    """Trailers and extensions of chunks are bounded as heads are; ordinary chunks, in any number, are taken."""
    head = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"1\r\n%c\r\n" % letter for letter in b"{" + b" " * 20_000 + b"}")
    assert b" 200 " in answered(server.port, head + body + b"0\r\n\r\n")
    assert b" 200 " in answered(server.port, head + body + b"0\r\nX-A: b\r\n\r\n")
    for large in (
        b"2\r\n{}\r\n0\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n",
        b"2\r\n{}\r\n0\r\n" + b"X-A: a\r\n" * 20_000 + b"\r\n",
        b"2;" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n",
    ):
        assert b" 200 " not in answered(server.port, head + large)
        assert b" 200 " not in answered(server.port, head, *cut(large, 3000))


# What is let in


@pytest.mark.parametrize("path", ["/sign-in?then=%2F", "/?x=1", "/new?a&b", "/t/t?x=%ff", "/t/t/duels?y=" + "z&" * 50])
def test_pages_ignore_queries(client: Client, path: str) -> None:
    """A page of the dashboard is shown whatever stands behind the ? of its address."""
    answer = client.get(path)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")


def test_calls_still_refuse_unknown_parameters(client: Client) -> None:
    """A misspelt parameter of an API call is an error."""
    assert client.get("/v1/tournaments/t/journal?limt=1").status == 422


@pytest.mark.parametrize(
    "name",
    [
        *("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded"),
        *("X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Client-Cert", "CF-Connecting-IP", "CF-Ray"),
        *("CF-Connecting-IPv6", "True-Client-IP", "X-Client-IP", "X-Original-Forwarded-For", "X-Original-URL"),
        *("X-Envoy-External-Address", "X-Cluster-Client-IP", "Fastly-Client-IP", "Fly-Client-IP", "CDN-Loop"),
        *("X-Amzn-Trace-Id", "X-Azure-ClientIP", "X-Appengine-User-IP", "Client-IP", "x-real-ip", "VIA"),
    ],
)
def test_without_keys_nothing_comes_through_a_proxy(client: Client, name: str) -> None:
    """While there is no key, a request with any header that proxies add is refused."""
    answer = client.get("/v1/tournaments", **{name: "10.0.0.1"})
    assert (answer.status, answer.problem) == (401, "no-key")


def test_without_keys_ordinary_headers_come_in(client: Client) -> None:
    """Headers of ordinary clients are not taken for those of proxies."""
    ordinary = ("User-Agent", "Accept", "X-Request-Id", "Traceparent", "Vary", "X-Forward", "Accept-Language", "DNT")
    assert client.get("/v1/tournaments", **dict.fromkeys(ordinary, "1")).status == 200


GOOD_HOSTS = ("localhost", "LocalHost", "localhost:1", "127.0.0.1:65535", "[::1]", "[::1]:80")
BAD_HOSTS = (
    *("", ":", ":80", "::1", "::1:80", "[::1", "::1]", "[::1]x", "[::1].evil.com", "[::1].evil.com:80", "[::1]evil"),
    *(
        "[::1]:",
        "[::1]:x",
        "[::1]:80:80",
        "[::1]:+1",
        "[::1]@evil.com",
        "x[::1]",
        "[[::1]]",
        "[]",
        "[]:80",
        "[::1][::1]",
    ),
    *(
        "[localhost]",
        "[127.0.0.1]",
        "[::1%lo]",
        "localhost:",
        "localhost:x",
        "localhost:-1",
        "localhost:+80",
        "localhost:8_0",
    ),
    *(
        "localhost:99999",
        "localhost:123456",
        "localhost:80:80",
        "localhost.evil.com",
        "evil.com#localhost",
        "localhost/",
    ),
    *(
        "localhost@evil.com",
        "evil.com@localhost",
        "localhost,evil.com",
        "localhost evil.com",
        "localhost\n",
        "localhost\x00",
    ),
    *("localhost:\u0661", "localhost:\u00b2", " localhost", "127.1", "0x7f000001", "localhost%00", "evil.com"),
)


def test_hosts_are_parsed_strictly() -> None:
    """A Host header is a known name or a bracketed IPv6 address, with a port or without, and nothing else."""
    hosts = Hosts(("127.0.0.1", "::1", "localhost"))
    assert [host for host in GOOD_HOSTS if host not in hosts] == []
    assert [host for host in BAD_HOSTS if host in hosts] == []
    assert [host for host in BAD_HOSTS if host in hosts] == []  # nor when it was seen before


def test_refused_hosts_are_not_remembered() -> None:
    """Ten thousand wrong names take no memory."""
    hosts = Hosts(("localhost",))
    assert not [number for number in range(10_000) if f"h{number}.evil.com" in hosts]
    assert hosts._accepted == {}


@pytest.mark.parametrize("length", [b"31", b" 31", b"31 ", b"\t31\t ", b"031"])
def test_spaces_around_a_length_are_legal(server: Server, length: bytes) -> None:
    """White space around a header's value is no part of it (RFC 9110, 5.5)."""
    body = json.dumps({"query_id": "q" * 15}).encode()
    assert len(body) == 31
    assert b" 200 " in answered(server.port, POST + b"Content-Length:" + length + b"\r\n\r\n" + body)


@pytest.mark.parametrize(
    "length",
    [
        *(
            b"+31",
            b"-31",
            b"3_1",
            b"0x1f",
            b"31.0",
            b"3 1",
            b"31,31",
            b"31, 32",
            b"\xd9\xa3\xd9\xa1",
            b"\xb3\xb1",
            b"31x",
        ),
        *(b"31\r\nContent-Length: 32", b"31\r\nContent-Length: 31", b"31\r\nTransfer-Encoding: chunked"),
        *(b"9" * 19, b"9" * 5000, b"0" * 5000 + b"31", b"1000001"),
    ],
)
def test_other_lengths_are_refused(server: Server, length: bytes) -> None:
    """A length that is not one plain number is refused with 400 or 413."""
    body = json.dumps({"query_id": "q" * 15}).encode()
    answer = answered(server.port, POST + b"Content-Length: " + length + b"\r\n\r\n" + body)
    assert answer[9:12] in (b"400", b"413"), answer


def test_spaces_around_other_headers_are_legal(server: Server) -> None:
    """Hosts and types of bodies may have white space around them as well."""
    spaced = POST.replace(b"localhost\r\n", b"\t localhost \r\n").replace(b"/json\r\n", b"/json \t\r\n")
    assert b" 200 " in answered(server.port, spaced + b"Content-Length: 2\r\n\r\n{}")
