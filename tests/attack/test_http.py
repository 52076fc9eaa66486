"""HTTP requests made to exhaust the server: huge heads, slow parsing, connections held open; and headers that lie."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from rankduel.live import storage_at
from rankduel.service import new_key, protocol
from rankduel.service.app import make_app
from rankduel.service.keys import Key, KeyRing
from rankduel.service.limits import Connections, Hosts
from rankduel.service.protocol import HEAD_BYTES, GuardedProtocol
from rankduel.service.sessions import Sessions
from rankduel.service.settings import ServiceSettings
from service.servers import Client, Server, serving

ASK = "/v1/tournaments/t/ask"
GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
POST = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without keys, with the tournament `t`."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('http')}/duels.db") as server:
        with server.client as client:
            assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]}).status == 201
        yield server
        assert not [line for line in server.lines if "Traceback" in line]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a key that nobody shows."""
    url = f"sqlite:///{tmp_path_factory.mktemp('locked')}/duels.db"
    storage = storage_at(url)
    new_key(storage, "one", ["admin"])
    storage.close()
    with serving(url) as server:
        yield server
        assert not [line for line in server.lines if "Traceback" in line]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client as client:
        yield client


def connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """What is answered until the server closes the connection; TimeoutError if it does not."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def one_answer(connection: socket.socket) -> bytes:
    """One answer, of a connection that may stay open."""
    answer = connection.recv(65_536)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65_536)
    head, _, body = answer.partition(b"\r\n\r\n")
    missing = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]) - len(body)
    while missing > 0:
        part = connection.recv(missing)
        answer, missing = answer + part, missing - len(part)
    return answer


def answered(port: int, *sent: bytes, pause: float = 0.0) -> bytes:
    """What is answered to some packets, after which nothing comes."""
    with closing(connected(port)) as connection:
        try:
            for packet in sent:
                connection.sendall(packet)
                time.sleep(pause)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed by the server before everything was sent
        return until_closed(connection)


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
    sessions, ring = Sessions(b"secret", 60), KeyRing(())

    def read(size: int) -> None:
        sessions.key_of({b"cookie": b'a="' + unit * (size // len(unit)) + b'"'}, "GET", ring)

    assert grows_linearly(read, HEAD_BYTES // 2)


def test_our_cookie_is_found_among_others() -> None:
    """A session is recognised wherever its cookie stands, and others' names or values do not pass for it."""
    sessions = Sessions(b"secret", 60)
    key = Key("a1", "ann", ("read",), "")

    class Ring(KeyRing):
        def known(self, id: str) -> Key | None:
            return key if id == "a1" else None

    value = sessions.begin(key, secure=False).partition(b";")[0]
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
        runner.run(app.service.begin())

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
        runner.run(app.service.end())
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


# Connections that are held


@pytest.mark.parametrize(
    "head",
    [
        POST + b"Content-Length: 900\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
        GET.replace(b"livez", b"v1/tournaments") + b"Content-Length: 900\r\n\r\n{",
        POST + b"Content-Length: 900\r\nExpect: 100-continue\r\n\r\n",
        POST.replace(b"localhost", b"evil.example") + b"Content-Length: 900\r\n\r\n{",
        GET.replace(b"livez", b"nothing") + b"Content-Length: 900\r\n\r\n{",
    ],
)
def test_a_refused_request_whose_body_does_not_come_is_closed(locked: Server, head: bytes) -> None:
    """After the refusal nobody waits for the rest of the body, however it drips."""
    with closing(connected(locked.port)) as connection:
        connection.sendall(head)
        answer = until_closed(connection)
    assert answer[9:12] in (b"400", b"401", b"404")
    assert b"connection: close" in answer


def test_an_answered_request_whose_body_does_not_come_is_closed(server: Server) -> None:
    """A request that needs no body is answered at once, and what it said it would send is not waited for."""
    with closing(connected(server.port)) as connection:
        connection.sendall(GET + b"Content-Length: 900\r\n\r\n{")
        answer = until_closed(connection)
    assert b" 200 " in answer
    assert b"connection: close" in answer


def test_a_refused_request_whose_body_comes_keeps_its_connection(locked: Server) -> None:
    """A body that follows its head at once is read, so that clients see the refusal and go on."""
    with closing(connected(locked.port)) as connection:
        for _ in range(2):
            connection.sendall(POST + b"Content-Length: 200000\r\n\r\n")
            time.sleep(0.05)
            connection.sendall(b" " * 200_000)
            answer = one_answer(connection)
            assert b" 401 " in answer
            assert b"connection: close" not in answer


def test_more_connections_than_allowed_are_refused_and_old_ones_work(tmp_path: Path) -> None:
    """Idle connections count; the one too many is answered 503 with Retry-After, and those before it are served."""
    with serving(f"sqlite:///{tmp_path}/duels.db", connections=3) as server, ExitStack() as stack:
        held = [stack.enter_context(connected(server.port)) for _ in range(3)]
        held[0].sendall(GET + b"\r\n")
        assert b" 200 " in one_answer(held[0])
        with closing(connected(server.port)) as fourth:
            refused = until_closed(fourth)
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: " in refused
        for connection in held:
            connection.sendall(GET + b"\r\n")
            assert b" 200 " in one_answer(connection)
        held[0].close()
        until = time.monotonic() + 20
        while b" 200 " not in (answer := answered(server.port, GET + b"Connection: close\r\n\r\n")):
            assert time.monotonic() < until, answer


def test_connections_are_bounded_by_address() -> None:
    """One address, or one IPv6 network, has its own bound; loopback, where proxies are, has that of all."""
    for first, second in (
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8::1", "2001:db8::ffff:1"),
        ("fe80::1%eth0", "fe80::2%eth0"),
    ):
        connections = Connections(most=10, per_address=1)
        assert connections.add(first)
        assert not connections.add(second)
        assert connections.add("198.51.100.1")
        assert connections.add("2001:db8:0:1::1")
        connections.remove(second)
        connections.remove(first)
        assert connections.add(second)
    for own in ("127.0.0.1", "127.0.0.9", "::1"):
        connections = Connections(most=10, per_address=1)
        assert [connections.add(own) for _ in range(11)] == [True] * 10 + [False]


# The protocol alone, in this process, with shorter times

LARGE = b"x" * 30_000_000
Attack = Callable[[socket.socket], Awaitable[None]]


def held_by(monkeypatch: pytest.MonkeyPatch, attack: Attack) -> bool:
    """Whether a connection is still held after an attack and the time that it has."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 0.3)
    monkeypatch.setattr(protocol, "WRITE_BYTES_PER_SECOND", 10**9)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = LARGE if scope["path"] == "/large" else b"small"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    async def run() -> bool:
        loop = asyncio.get_running_loop()
        config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, timeout_keep_alive=600)
        config.load()
        state = ServerState()

        def protocol_of_a_connection() -> GuardedProtocol:
            return GuardedProtocol(config, state, {}, loop, connections=Connections(10, 10))

        listener = await loop.create_server(protocol_of_a_connection, "127.0.0.1", 0)
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        await loop.sock_connect(connection, listener.sockets[0].getsockname())
        try:
            await attack(connection)
            for _ in range(200):
                if not state.connections:
                    return False
                await asyncio.sleep(0.1)
            return True
        finally:
            connection.close()
            listener.close()
            await asyncio.sleep(0.05)
            for task in state.tasks:
                task.cancel()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


async def never_reads(connection: socket.socket) -> None:
    await asyncio.get_running_loop().sock_sendall(connection, GET.replace(b"livez", b"large") + b"\r\n")


async def never_reads_the_last(connection: socket.socket) -> None:
    head = GET.replace(b"livez", b"large") + b"Connection: close\r\n\r\n"
    await asyncio.get_running_loop().sock_sendall(connection, head)


async def never_reads_many(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(3):
        await loop.sock_sendall(connection, GET.replace(b"livez", b"large") + b"\r\n" + (GET + b"\r\n") * 10)


async def sends_an_empty_line_after_an_answer(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(connection, GET + b"\r\n")
    assert b" 200 " in await loop.sock_recv(connection, 65_536)
    await loop.sock_sendall(connection, b"\r\n")


async def drips_a_second_head(connection: socket.socket) -> None:
    await asyncio.get_running_loop().sock_sendall(connection, GET + b"\r\nGET /l")


async def sends_thousands_at_once(connection: socket.socket) -> None:
    await asyncio.get_running_loop().sock_sendall(connection, b"GET / HTTP/1.1\r\n\r\n" * 500)


async def asks_for_an_upgrade(connection: socket.socket) -> None:
    upgrade = GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    await asyncio.get_running_loop().sock_sendall(connection, upgrade)


@pytest.mark.parametrize(
    "attack",
    [
        never_reads,
        never_reads_the_last,
        never_reads_many,
        sends_an_empty_line_after_an_answer,
        drips_a_second_head,
        sends_thousands_at_once,
        asks_for_an_upgrade,
    ],
)
def test_no_connection_is_held_without_end(monkeypatch: pytest.MonkeyPatch, attack: Attack) -> None:
    """Clients that do not read, do not finish a head, or pipeline without end lose their connection."""
    assert not held_by(monkeypatch, attack)


def test_a_client_that_reads_slowly_gets_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large answer that is read, with pauses shorter than allowed, arrives whole."""
    got = 0

    async def reads(connection: socket.socket) -> None:
        nonlocal got
        monkeypatch.setattr(protocol, "WRITE_SECONDS", 60.0)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(connection, GET.replace(b"livez", b"large") + b"Connection: close\r\n\r\n")
        await asyncio.sleep(0.5)
        while part := await loop.sock_recv(connection, 1_000_000):
            got += len(part)

    assert not held_by(monkeypatch, reads)
    assert got > len(LARGE)


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
    assert hosts._seen == {}


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


def test_spaces_around_other_headers_are_legal(locked: Server, server: Server) -> None:
    """Hosts and types of bodies may have white space around them as well."""
    spaced = POST.replace(b"localhost\r\n", b"\t localhost \r\n").replace(b"/json\r\n", b"/json \t\r\n")
    assert b" 200 " in answered(server.port, spaced + b"Content-Length: 2\r\n\r\n{}")
    assert b"/problems/no-key" in answered(locked.port, spaced + b"Content-Length: 2\r\n\r\n{}")
