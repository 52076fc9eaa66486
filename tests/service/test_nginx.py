"""Behind nginx, configured as documented: clients, keys, cookies, and the live stream."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankduel.live import storage_at
from rankduel.service import new_key
from service.nginx import Nginx, proxied
from service.servers import Server, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('nginx')}/duels.db"


@pytest.fixture(scope="module")
def key(url: str) -> str:
    storage = storage_at(url)
    key = new_key(storage, "operator", ["admin"])[1]
    storage.close()
    return key


@pytest.fixture(scope="module")
def server(url: str, key: str) -> Iterator[Server]:
    with serving(url, hosts=["duels.example"], wrong_keys=0.001, wrong_keys_burst=2) as server:
        yield server


@pytest.fixture(scope="module")
def nginx(server: Server) -> Iterator[Nginx]:
    with proxied(server.port) as nginx:
        yield nginx


def connection(nginx: Nginx, address: str = "127.0.0.1") -> http.client.HTTPSConnection:
    """A client with an address of this machine's own."""
    return http.client.HTTPSConnection(
        "127.0.0.1", nginx.port, timeout=60, context=nginx.context(), source_address=(address, 0)
    )


def send(
    nginx: Nginx, method: str, path: str, body: Any = None, *, address: str = "127.0.0.1", **headers: str
) -> tuple[int, Any, http.client.HTTPResponse]:
    sent = {"Host": "duels.example", "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    client = connection(nginx, address)
    client.request(method, path, None if body is None else json.dumps(body), sent)
    response = client.getresponse()
    content = response.read()
    client.close()
    is_json = "json" in response.headers.get("content-type", "")
    return response.status, json.loads(content) if is_json else content, response


def test_calls_pass(nginx: Nginx, key: str) -> None:
    allowed = {"Authorization": f"Bearer {key}"}
    body = {"name": "home", "rankers": ["a", "b"], "baseline": "a"}
    assert send(nginx, "POST", "/v1/tournaments", body, **allowed)[0] == 201
    status, duel, _ = send(nginx, "POST", "/v1/tournaments/home/ask", {}, **allowed)
    assert (status, duel["serve"]) == (200, "duel")
    told = {"ticket": duel["ticket"], "outcome": "first"}
    assert send(nginx, "POST", "/v1/tournaments/home/tell", told, **allowed)[0] == 200
    assert send(nginx, "GET", "/readyz")[1] == b"ok\n"


def test_without_keys_nobody_comes_in(tmp_path: Path) -> None:
    """A service that was started too early is closed to everybody behind the proxy."""
    with serving(f"sqlite:///{tmp_path}/duels.db", hosts=["duels.example"]) as server, proxied(server.port) as nginx:
        body = {"name": "home", "rankers": ["a", "b"]}
        status, problem, _ = send(nginx, "POST", "/v1/tournaments", body)
        assert (status, problem["type"]) == (401, "/problems/no-key")
        with server.client as client:
            assert client.get("/v1/tournaments").body["tournaments"] == []


def test_wrong_keys_count_for_the_client(nginx: Nginx, key: str) -> None:
    """One client that guesses keys neither shuts out other clients, nor hides behind addresses that it claims."""

    def guess(address: str, **headers: str) -> int:
        return send(nginx, "GET", "/v1/tournaments", address=address, Authorization="Bearer rd_x_y", **headers)[0]

    assert [guess("127.0.0.2") for _ in range(3)] == [401, 401, 429]
    assert guess("127.0.0.2", X_Forwarded_For="203.0.113.7") == 429
    assert guess("127.0.0.3") == 401
    assert send(nginx, "GET", "/v1/tournaments", address="127.0.0.2", Authorization=f"Bearer {key}")[0] == 200


def test_the_session_is_for_tls_only(nginx: Nginx, server: Server, key: str) -> None:
    _, _, response = send(nginx, "POST", "/v1/session", Authorization=f"Bearer {key}")
    assert response.headers["set-cookie"].endswith("; HttpOnly; SameSite=Strict; Secure")
    with server.client.with_key(key) as direct:
        assert direct.send("POST", "/v1/session").headers["set-cookie"].endswith("; SameSite=Strict")


def test_the_stream_delivers(nginx: Nginx, server: Server, key: str) -> None:
    """Each change arrives when it happens, and heartbeats in between, for longer than nginx waits for data."""
    with server.client.with_key(key) as direct:
        direct.post("/v1/tournaments", {"name": "watched", "rankers": ["a", "b"]})
        client = connection(nginx)
        client.request("GET", "/v1/watch?tournament=watched", headers={"Authorization": f"Bearer {key}"})
        stream = client.getresponse()
        assert "x-accel-buffering" not in stream.headers  # it is for nginx

        def event() -> str:
            while not (line := stream.readline()).startswith(b"event: "):
                assert line, "the stream has ended"
            return line.decode().removeprefix("event: ").strip()

        try:
            assert event() == "change"
            beats = 0
            while beats < 4:  # a forecast may be a change, too
                beats += event() == "heartbeat"
            direct.post("/v1/tournaments/watched:pause", {"reason": "a change"})
            assert event() == "change"
        finally:
            stream.close()
            client.close()
