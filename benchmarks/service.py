"""HTTP service on loopback: single asks and tells, batches, and a bare "hello" response for comparison."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import cast

import uvloop

from benchmarks.live import RANKERS, bare, on_disk

_HELLO = """
import logging, uvicorn
from rankduel.service.logs import log_to_stderr
from rankduel.service.server import _config, _listen
from rankduel.service.settings import ServiceSettings
async def hello(scope, receive, send):
    if scope["type"] == "lifespan":
        for word in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{word}.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})
log_to_stderr()
settings = ServiceSettings(port=0)
uvicorn.Server(_config(hello, settings)).run([_listen(settings)])
"""
_SERVE = "from rankduel.service import serve; serve({url!r}, port=0, create=True)"


def report(*, quick: bool) -> None:
    """Print all measurements of one run on one disk. Server and load generator share the machine."""
    with on_disk() as folder:
        seconds = 0.5 if quick else 5.0
        with running(_HELLO) as port:
            rate, times = uvloop.run(singles(port, seconds, hello=True))
            print(f"\nHTTP service on loopback; a bare commit takes {1e3 * bare(folder):.1f} ms")
            print(f"bare hello: {rate:,.0f} requests/s, p99 {_p99(times):.1f} ms")
        with running(_SERVE.format(url=f"sqlite:///{folder}/duels.db")) as port:
            uvloop.run(create(port))
            rate, times = uvloop.run(singles(port, seconds))
            print(f"single: {rate / 2:,.0f} asks and {rate / 2:,.0f} durable tells/s, p99 {_p99(times):.1f} ms")
            rate, times = uvloop.run(batches(port, seconds, 100))
            print(f"batches of 100: {rate:,.0f} duels (ask and durable tell)/s, p99 of a call {_p99(times):.1f} ms")
            for dashboards in (0, 3):
                rate, times = uvloop.run(singles(port, seconds, connections=200, dashboards=dashboards))
                print(f"200 connections, {dashboards} dashboards: {rate:,.0f} requests/s, p99 {_p99(times):.1f} ms")


def _p99(times: list[float]) -> float:
    return 1e3 * sorted(times)[int(0.99 * len(times))]


@contextmanager
def running(code: str) -> Iterator[int]:
    """Run a server in its own process. Yields its port."""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            for line in server.stderr:
                if '"listening"' in line:
                    yield json.loads(line)["port"]
                    break
            else:
                raise RuntimeError("the server did not start")
        finally:
            server.terminate()
            assert server.wait(20) == 0 or "hello" in code


class Connection(asyncio.Protocol):
    """HTTP client with one connection and one request at a time, with as little work as possible."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the connection."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Collect the parts of a response."""
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), self._buffer
            self._buffer = b""
            assert self._answer is not None
            self._answer.set_result(body)

    async def get(self, path: str) -> bytes:
        """Send a GET request, and return the body of the response."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return await self._answer

    async def post(self, path: str, body: bytes) -> bytes:
        """Send a POST request, and return the body of the response."""
        self._answer = asyncio.get_running_loop().create_future()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return await self._answer


async def connected(port: int) -> Connection:
    """Open a connection."""
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


async def create(port: int) -> None:
    """Create the tournament."""
    body = {"name": "bench", "rankers": RANKERS, "seed": 1}
    await (await connected(port)).post("/v1/tournaments", json.dumps(body).encode())


async def _in_many(count: int, seconds: float, work: Callable[[int, float], object]) -> float:
    started = perf_counter()
    await asyncio.gather(*(work(number, started + seconds) for number in range(count)))  # type: ignore[call-overload]
    return perf_counter() - started


async def singles(
    port: int, seconds: float, *, hello: bool = False, connections: int = 32, dashboards: int = 0
) -> tuple[float, list[float]]:
    """Requests per second, half of them asks and half of them tells, and the seconds of each.

    Each open dashboard sends the requests of its overview page once a second.
    """
    times: list[float] = []

    async def work(number: int, until: float) -> None:
        connection = await connected(port)

        async def timed(path: str, body: bytes) -> bytes:
            started = perf_counter()
            answer = await connection.post(path, body)
            times.append(perf_counter() - started)
            return answer

        duel = 0
        while perf_counter() < until:
            duel += 1
            query = b'{"query_id":"%d.%d.%d.%d"}' % (connections, dashboards, number, duel)
            asked = await timed("/v1/tournaments/bench/ask", query)
            if hello:
                continue
            ticket = asked.partition(b'"ticket":"')[2].partition(b'"')[0]
            told = await timed("/v1/tournaments/bench/tell", b'{"ticket":"%s","outcome":"tie"}' % ticket)
            assert told.startswith(b'{"status":"accepted"'), told

    async def watch(number: int, until: float) -> None:
        connection, after = await connected(port), 0
        while perf_counter() < until:
            for what in ("overview", "standings", f"timeline?limit=1000&after={after}"):
                answer = await connection.get(f"/v1/tournaments/bench/{what}")
            after = json.loads(answer).get("next") or after
            await asyncio.sleep(1)

    async def client(number: int, until: float) -> None:
        await (watch if number < dashboards else work)(number, until)

    took = await _in_many(connections + dashboards, seconds, client)
    return len(times) / took, times


async def batches(port: int, seconds: float, size: int) -> tuple[float, list[float]]:
    """Duels per second, asked and told in batches, and the seconds of each call."""
    times: list[float] = []

    async def work(number: int, until: float) -> None:
        connection = await connected(port)
        batch = 0
        while perf_counter() < until:
            batch += 1
            queries = b",".join(b'{"query_id":"b%d.%d.%d"}' % (number, batch, duel) for duel in range(size))
            started = perf_counter()
            asked = await connection.post("/v1/tournaments/bench/ask", b'{"queries":[%s]}' % queries)
            times.append(perf_counter() - started)
            tickets = [part.partition(b'"')[0] for part in asked.split(b'"ticket":"')[1:]]
            body = b",".join(b'{"ticket":"%s","outcome":"tie"}' % ticket for ticket in tickets)
            started = perf_counter()
            told = await connection.post("/v1/tournaments/bench/tell", b"[%s]" % body)
            times.append(perf_counter() - started)
            assert told.count(b'"accepted"') == size, told

    took = await _in_many(8, seconds, work)
    return len(times) / 2 * size / took, times
