"""Connections that a client tries to hold without end: unfinished heads, bodies and answers, and too many of them."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from attack.sockets import GET, POST, answered, connected, one_answer, until_closed
from rankduel.live import storage_at
from rankduel.service import new_key
from rankduel.service.http import protocol
from rankduel.service.http.connection_limits import Connections
from rankduel.service.http.protocol import GuardedProtocol
from service.servers import Server, serving


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
        connections = Connections(limit=10, limit_per_address=1)
        assert connections.add(first)
        assert not connections.add(second)
        assert connections.add("198.51.100.1")
        assert connections.add("2001:db8:0:1::1")
        connections.remove(second)
        connections.remove(first)
        assert connections.add(second)
    for own in ("127.0.0.1", "127.0.0.9", "::1"):
        connections = Connections(limit=10, limit_per_address=1)
        assert [connections.add(own) for _ in range(11)] == [True] * 10 + [False]


# The protocol alone, in this process, with shorter times

LARGE = b"x" * 30_000_000
Attack = Callable[[socket.socket], Awaitable[None]]


def held_by(monkeypatch: pytest.MonkeyPatch, attack: Attack, *, keep_alive: int = 600) -> bool:
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
        config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, timeout_keep_alive=keep_alive)
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


@pytest.mark.parametrize("attack", [never_reads, never_reads_the_last])
def test_an_answer_too_small_to_pause_for_holds_no_connection(monkeypatch: pytest.MonkeyPatch, attack: Attack) -> None:
    """What is left of an answer may be less than the transport pauses for: closing has a time limit of its own."""
    monkeypatch.setattr(protocol, "_COALESCED_BYTES", 10**9)
    assert not held_by(monkeypatch, attack, keep_alive=1)


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
