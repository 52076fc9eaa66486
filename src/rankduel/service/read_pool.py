"""Read pool: threads, a queue and a cache for read-only requests, separate from the threads that serve traffic."""

import asyncio
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rankduel.service.problems import Problem

__all__ = ["ReadPool"]

MAX_WAITING_READS = 64  # in the queue
MAX_CACHED_ANSWERS = 1_000
MAX_CACHED_BYTES = 64_000_000
SWITCH_INTERVAL_SECONDS = 0.0005  # of threads while a read computes, so that asks run soon; Python's default is 5 ms
_RETRY_AFTER = ((b"retry-after", b"1"),)

T = TypeVar("T")
Work = Callable[[], bytes]
Version = Callable[[], object]


@dataclass(slots=True, eq=False)
class _Flight:
    """One computation and the number of requests that wait for it."""

    future: asyncio.Future[bytes] = field(init=False)
    version: object = None  # None: not started
    waiting: int = 0


class ReadPool:
    """Computes answers in a few threads, so that reads use a bounded share of the interpreter.

    Requests for the same answer share one computation (single flight). An answer is cached while its version stays the
    same. A request never gets an answer that is older than itself: it joins only a computation that has not started, or
    one that started at the current version.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="rankduel reads")
        self._flights: dict[Hashable, _Flight] = {}  # the latest of each key
        self._cached: OrderedDict[Hashable, tuple[object, bytes]] = OrderedDict()  # by key: version and answer
        self._cached_bytes = 0

    async def answer(self, key: Hashable, work: Work, version: Version | None = None) -> bytes:
        """Return the result of `work`, shared by all requests with the same key. Raise a Problem if too many wait.

        `version` returns a value that changes when the answer does. Without it, nothing is cached.
        """
        now = None if version is None else version()
        if version is not None and key in self._cached and self._cached[key][0] == now:
            self._cached.move_to_end(key)
            return self._cached[key][1]
        flight = self._flights.get(key)
        if flight is None or (flight.version is not None and (version is None or flight.version != now)):
            flight = self._begin(key, work, version)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.future)
        finally:
            flight.waiting -= 1
            if not flight.waiting and flight.version is None:
                flight.future.cancel()  # all requests for it were cancelled

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run internal work of the server. It waits in the queue and is never rejected."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    def _begin(self, key: Hashable, work: Work, version: Version | None) -> _Flight:
        if sum(flight.version is None for flight in self._flights.values()) >= MAX_WAITING_READS:
            raise Problem(
                "busy",
                f"{MAX_WAITING_READS} reads are waiting; try again in 1 s (asks and tells are not affected)",
                headers=_RETRY_AFTER,
            )
        flight = self._flights[key] = _Flight()

        def run() -> bytes:
            flight.version = _UNKNOWN if version is None else version()
            with _quick_switches():
                return work()

        flight.future = asyncio.wrap_future(self._threads.submit(run))
        flight.future.add_done_callback(lambda _: self._end(key, flight, cache=version is not None))
        return flight

    def _end(self, key: Hashable, flight: _Flight, *, cache: bool) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight.future.cancelled() or flight.future.exception() is not None or not cache:
            return
        self._drop(key)
        self._cached[key] = flight.version, flight.future.result()
        self._cached_bytes += len(flight.future.result())
        while len(self._cached) > MAX_CACHED_ANSWERS or self._cached_bytes > MAX_CACHED_BYTES:
            self._drop(next(iter(self._cached)))

    def _drop(self, key: Hashable) -> None:
        if key in self._cached:
            self._cached_bytes -= len(self._cached.pop(key)[1])

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(cancel_futures=True)


_switch_lock = threading.Lock()
_default_interval = 0.0
_computing = 0  # running reads in all pools of this process


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Switch threads more often while a read computes. Doing this all the time would cost a tenth of the throughput."""
    global _computing, _default_interval  # noqa: PLW0603 - the interval belongs to the process, not to a pool
    with _switch_lock:
        _computing += 1
        if _computing == 1:
            _default_interval = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    try:
        yield
    finally:
        with _switch_lock:
            _computing -= 1
            if _computing == 0:
                sys.setswitchinterval(_default_interval)


_UNKNOWN = object()  # version of an answer that is not cached
