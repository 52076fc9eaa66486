"""Metrics of the service: what counting costs each ask and tell, and how long a scrape of many tournaments takes."""

import asyncio
import json
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import uvloop
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Scope

from benchmarks.live import on_disk
from rankduel.live import LocalTournament
from rankduel.service.app import make_app
from rankduel.service.http.gateway import Gateway
from rankduel.service.metrics import RequestCounters

_PATH = "/v1/tournaments/{name}/ask"
_HEARTBEAT_SECONDS = 0.001


def report(*, quick: bool) -> None:
    """Print CPU times of counting and of requests without sockets, then times of scrapes."""
    repeat = 3 if quick else 15
    plain = _best(_plain(), 2_000 if quick else 50_000, repeat)
    library = _best(_library(), 2_000 if quick else 50_000, repeat)
    with on_disk() as folder:
        request = uvloop.run(_requests(f"sqlite:///{folder}/duels.db", 300 if quick else 3_000, repeat))
    print(f"\ncounting a request: {1e6 * plain:.2f} us, {1e6 * library:.2f} us with counters of prometheus_client")
    print(f"an ask or a tell without sockets: {1e6 * request:.0f} us of CPU, {plain / request:.2%} of it for counting")
    for tournaments in (1, 20) if quick else (1, 200, 500):
        with on_disk() as folder:
            url = f"sqlite:///{folder}/duels.db"
            _create(url, tournaments)
            size, seconds, blocked = uvloop.run(_scrapes(url, repeat))
        print(
            f"scrape of {tournaments} tournaments: {1e3 * seconds:.1f} ms, {size:,} bytes; "
            f"longest wait of the event loop: {1e3 * blocked:.1f} ms"
        )


def _best(count: Callable[[], None], calls: int, repeat: int) -> float:
    """Return the least CPU seconds of one call."""
    times = []
    for _ in range(repeat):
        began = process_time()
        for _ in range(calls):
            count()
        times.append((process_time() - began) / calls)
    return min(times)


def _plain() -> Callable[[], None]:
    """Return what the service does for each ask."""
    counters = RequestCounters()

    def count() -> None:
        counters.in_flight += 1
        counters.asks["home", "duel", None] += 1
        counters.in_flight -= 1
        counters.count_request("POST", _PATH, 200, 0.003)

    return count


def _library() -> Callable[[], None]:
    """Return the same with metrics of prometheus_client."""
    registry = CollectorRegistry()
    in_flight = Gauge("in_flight", "", registry=registry)
    asks = Counter("asks", "", ("tournament", "serve", "why"), registry=registry)
    requests = Counter("requests", "", ("method", "path", "status"), registry=registry)
    seconds = Histogram("seconds", "", ("method", "path"), registry=registry)

    def count() -> None:
        in_flight.inc()
        asks.labels("home", "duel", "none").inc()
        in_flight.dec()
        requests.labels("POST", _PATH, "200").inc()
        seconds.labels("POST", _PATH).observe(0.003)

    return count


def _create(url: str, tournaments: int) -> None:
    for number in range(tournaments):
        with LocalTournament.create(f"tournament {number}", rankers=["bm25", "ltr", "neural"], storage=url) as t:
            t.ask("a query")


async def _requests(url: str, requests: int, repeat: int) -> float:
    """Return the least CPU seconds of an ask or a tell, answered one by one."""
    app = make_app(url, create=True)
    await app.service.start()
    try:
        await _call(app, "POST", "/v1/tournaments", {"name": "home", "rankers": [f"r{number}" for number in range(20)]})
        times = []
        for _ in range(repeat):
            began = process_time()
            for _ in range(requests // 20):
                await asyncio.gather(*(_ask_and_tell(app) for _ in range(10)))
            times.append((process_time() - began) / (requests // 20 * 20))
        return min(times)
    finally:
        await app.service.stop()


async def _ask_and_tell(app: ASGIApp) -> None:
    duel = json.loads(await _call(app, "POST", "/v1/tournaments/home/ask", {}))
    await _call(app, "POST", "/v1/tournaments/home/tell", {"ticket": duel["ticket"], "outcome": "tie"})


async def _scrapes(url: str, repeat: int) -> tuple[int, float, float]:
    """Return the bytes of a scrape, its least time, and the longest wait of the event loop (median)."""
    app: Gateway = make_app(url)
    await app.service.start()
    try:
        body = await _call(app, "GET", "/metrics")
        times, gaps = [], []
        for _ in range(repeat):
            beating = asyncio.create_task(_longest_gap())
            await asyncio.sleep(5 * _HEARTBEAT_SECONDS)
            began = perf_counter()
            await _call(app, "GET", "/metrics")
            times.append(perf_counter() - began)
            beating.cancel()
            gaps.append(await beating)
        return len(body), min(times), sorted(gaps)[len(gaps) // 2]
    finally:
        await app.service.stop()


async def _longest_gap() -> float:
    """Return the longest time between two turns of the event loop, beyond the heartbeat, until cancelled."""
    longest, last = 0.0, perf_counter()
    try:
        while True:
            await asyncio.sleep(_HEARTBEAT_SECONDS)
            longest, last = max(longest, perf_counter() - last - _HEARTBEAT_SECONDS), perf_counter()
    except asyncio.CancelledError:
        return longest


async def _call(app: ASGIApp, method: str, path: str, body: Any = None) -> bytes:
    """Return the body of a response. The app is called without a socket."""
    sent = b"" if body is None else json.dumps(body).encode()
    parts: list[bytes] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) < 300, message
        parts.append(message.get("body", b""))

    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, send)
    return b"".join(parts)
