"""Outbox: a background thread sends queued tells, pages and events in batches, with bounded retries."""

import random
import threading
from collections import Counter, deque
from dataclasses import dataclass
from time import monotonic
from typing import Any

from rankduel.client.counters import Tally
from rankduel.client.problems import problem_in
from rankduel.client.reporter import Reporter
from rankduel.client.response import Answer, Failure
from rankduel.client.transport import Transport
from rankduel.live.rules.validation import brief

__all__ = ["Outbox", "Route"]

_LINGER_SECONDS = 0.05  # how long an item waits for others to share its batch
_IDLE_CHECK_SECONDS = 10.0  # how often the idle thread checks whether its client still exists
_CALL_TIMEOUT_SECONDS = 10.0  # then the request is retried
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 30.0  # between attempts
_MAX_RECONNECT_SECONDS = 1.0  # between attempts to connect: they cost a service nothing, so they do not slow down
_MAX_BATCH_BYTES = 500_000  # half of the limit of a service
_MAX_FAILED_ATTEMPTS = 3  # responses with status 500 to a batch, before it is split
_RETRY_STATUSES = (408, 425, 429)  # retry later
_CONFLICT_STATUS = 409  # for a single tell: another outcome is stored
_BAD_REQUEST_STATUSES = (400, 413, 422)  # some item of the batch is invalid, so split it
_STATUSES = {
    "accepted": "accepted",
    "duplicate": "duplicate",
    "conflict": "conflict",
    "late": "told_late",
    "unknown": "unknown",
    "limit": "limit",
    "invalid": "rejected",
}
_PROBLEMS = {"conflict": "conflict", "late": "late", "unknown": "unknown-duel"}  # of tells and pages, by status


@dataclass(frozen=True)
class Route:
    """Where and how to send one kind of item: call, path, batch size, and the format of a batch and its response."""

    call: str  # tell, show or observe
    path: str
    max_items: int
    before: bytes = b""
    after: bytes = b""
    results: str | None = None  # the field of the response with one result per item

    def body(self, items: list[bytes]) -> bytes:
        """Return the body of a batch, from items that are JSON."""
        return self.before + b",".join(items) + self.after


class Outbox:
    """A bounded queue, and a thread that sends its items to a service.

    The thread starts with the first item, does not keep the program from exiting, and holds no reference to the client.
    Items that the service rejects for good are not sent again. A batch that it rejects, or that keeps failing, is split
    in halves, so that one bad item does not affect others. The queue holds at most `max_items` items and `max_bytes`
    bytes.
    """

    def __init__(self, transport: Transport, tally: Tally, reporter: Reporter, max_items: int, max_bytes: int) -> None:
        self._transport, self._reporter = transport, reporter
        self._max_items, self._max_bytes = max_items, max_bytes
        self.forked(tally)

    def forked(self, tally: Tally) -> None:
        """Start with an empty queue. After a fork, the parent sends the items, and the child has no thread."""
        self._tally = tally
        self._queues: dict[Route, deque[bytes]] = {}  # the route that has waited longest comes first
        self._waiting = 0  # items in the queues
        self._taken = 0  # items that the thread is sending
        self._sending: Route | None = None  # their route
        self._bytes = 0  # waiting and taken items together
        self._waited_for = 0  # how many callers wait in `flush`
        self._end: float | None = None  # the deadline for sending, once closing has begun
        self._closed = False
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return self._waiting + self._taken

    def put(self, route: Route, text: bytes) -> bool:
        """Add an item that is JSON. Return False if it was dropped."""
        with self._changed:
            full = len(self) >= self._max_items or self._bytes + len(text) > self._max_bytes
            if not full and not self._closed:
                self._queues.setdefault(route, deque()).append(text)
                self._waiting += 1
                self._bytes += len(text)
                self._tally.add(queued=1)
                if self._thread is None or not self._thread.is_alive():
                    self._start()
                elif self._waiting == 1:
                    self._changed.notify_all()
                return True
        self._tally.add(dropped=1)
        self._reporter.failed(route.call, "closed" if self._closed else "queue-full")
        return False

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="rankduel outbox", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return  # no thread available now: the next item tries again
        self._thread = thread

    def flush(self, timeout: float) -> bool:
        """Wait until everything is sent. Return False if that takes longer than `timeout` seconds."""
        due = monotonic() + timeout
        with self._changed:
            self._waited_for += 1
            self._changed.notify_all()
            try:
                while len(self) and (left := due - monotonic()) > 0:
                    self._changed.wait(left)
                return not len(self)
            finally:
                self._waited_for -= 1

    def close(self, timeout: float) -> None:
        """Accept no more items, send the queued ones for at most `timeout` seconds, then drop and count the rest."""
        with self._changed:
            if self._closed and self._end == 0.0:  # closed before
                return
            self._closed = True
            if self._end is None:
                self._end = monotonic() + timeout
            self._changed.notify_all()
        self.flush(timeout)
        with self._changed:
            self._end = 0.0
            unsent = [(route, len(queue)) for route, queue in self._queues.items()]
            dropped, taken = self._waiting, self._taken
            self._bytes -= sum(len(text) for queue in self._queues.values() for text in queue)
            self._queues.clear()
            self._waiting = 0
            self._changed.notify_all()
        self._tally.add(dropped=dropped)
        if taken and self._sending is not None:  # the thread counts them if it still can
            unsent.append((self._sending, taken))
        for route, items in unsent:
            self._reporter.failed(route.call, "unsent", times=items)

    def abandon(self, timeout: float = 5.0) -> None:
        """Stop after the client was garbage-collected: the thread sends for at most `timeout` seconds. Never blocks.

        Page views that are closed meanwhile still add items.
        """
        self._end = monotonic() + timeout
        if self._changed.acquire(blocking=False):  # the garbage collector may call this while the lock is held
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()

    # The thread

    def _run(self) -> None:
        while (taken := self._next()) is not None:
            route, batch = taken
            try:
                self._deliver(route, batch)
            finally:
                with self._changed:
                    self._taken -= len(batch)
                    self._bytes -= sum(map(len, batch))
                    self._changed.notify_all()

    def _next(self) -> tuple[Route, list[bytes]] | None:
        """Wait for the next batch and its route; None once closed and empty."""
        with self._changed:
            lingered = False
            while True:
                if self._waiting == 0:
                    if self._end is not None:
                        return None
                    self._changed.wait(_IDLE_CHECK_SECONDS)
                elif not lingered and not self._hurried():
                    self._changed.wait(_LINGER_SECONDS)
                    lingered = True
                else:
                    return self._take()

    def _take(self) -> tuple[Route, list[bytes]]:
        """Take a batch of the first route. If the route has more items, it goes to the end of the line."""
        route = next(iter(self._queues))
        queue = self._queues.pop(route)
        batch = [queue.popleft()]
        size = len(batch[0])
        while queue and len(batch) < route.max_items and size + len(queue[0]) <= _MAX_BATCH_BYTES:
            batch.append(queue.popleft())
            size += len(batch[-1])
        if queue:
            self._queues[route] = queue
        self._waiting -= len(batch)
        self._taken, self._sending = len(batch), route
        return route, batch

    def _hurried(self) -> bool:
        return self._end is not None or self._waited_for > 0

    def _deliver(self, route: Route, batch: list[bytes]) -> None:
        """Send a batch until it is accepted or rejected, or until the deadline of `close`."""
        pause, failures = _FIRST_PAUSE_SECONDS, 0
        while not self._over():
            result = self._attempt(route, batch)
            status = 0 if isinstance(result, Failure) else result.status
            failures += status == 500
            if isinstance(result, Answer) and 200 <= status < 300:
                self._reporter.succeeded(route.call)
                self._count(route, batch, result.value)
                return
            if status == _CONFLICT_STATUS and len(batch) == 1:
                self._tally.add(sent=1, conflict=1)
                self._reporter.failed(route.call, "conflict")
                return
            if len(batch) > 1 and (status in _BAD_REQUEST_STATUSES or failures == _MAX_FAILED_ATTEMPTS):
                middle = len(batch) // 2
                self._deliver(route, batch[:middle])
                self._deliver(route, batch[middle:])
                return
            kind, detail = (result.kind, str(result)) if isinstance(result, Failure) else problem_in(result)
            if failures == _MAX_FAILED_ATTEMPTS or (200 <= status < 500 and status not in _RETRY_STATUSES):
                self._tally.add(rejected=len(batch))
                self._reporter.failed(route.call, kind, detail, times=len(batch))
                return
            self._tally.add(retries=1)
            self._reporter.failed(route.call, kind, detail)
            retry_after = 0.0 if isinstance(result, Failure) else result.retry_after or 0.0
            self._pause(max(retry_after, pause * random.uniform(0.5, 1.0)))
            longest = _MAX_RECONNECT_SECONDS if kind in ("unreachable", "unknown-host") else _MAX_PAUSE_SECONDS
            pause = min(2 * pause, longest)
        self._tally.add(dropped=len(batch))
        if self._end:  # otherwise `close` has reported it
            self._reporter.failed(route.call, "unsent", times=len(batch))

    def _attempt(self, route: Route, batch: list[bytes]) -> Answer | Failure:
        now = monotonic()
        due = (
            now + _CALL_TIMEOUT_SECONDS if self._end is None else min(now + _CALL_TIMEOUT_SECONDS, max(self._end, now))
        )
        try:
            return self._transport.call("POST", route.path, route.body(batch), due=due)
        except Failure as failure:
            return failure

    def _count(self, route: Route, batch: list[bytes], value: Any) -> None:
        """Count the statuses of the items of a batch, and report what went wrong with them."""
        results = value.get(route.results) if isinstance(value, dict) else None
        found: Counter[str] = Counter()
        for result in results[: len(batch)] if isinstance(results, list) else []:
            status = result.get("status") if isinstance(result, dict) else result
            if isinstance(status, str) and status in _STATUSES:
                found[status] += 1
        self._tally.add(
            sent=len(batch) - found["invalid"], **{_STATUSES[status]: count for status, count in found.items()}
        )
        if found["invalid"]:
            self._reporter.failed(route.call, "bad-value", _first_error(value), times=found["invalid"])
        for status, kind in _PROBLEMS.items() if route.call != "observe" else ():
            if found[status]:
                self._reporter.failed(route.call, kind, times=found[status])
        if missing := len(batch) - found.total():
            detail = f"no valid status for {missing} of {len(batch)} items in {brief(value)}"
            self._reporter.failed(route.call, "invalid-response", detail, times=missing)

    def _over(self) -> bool:
        return self._end is not None and monotonic() >= self._end

    def _pause(self, seconds: float) -> None:
        """Sleep, but wake up as soon as a caller begins to wait in `flush` or `close`."""
        due = monotonic() + seconds
        with self._changed:
            hurried = self._hurried()
            while (left := (due if self._end is None else min(due, self._end)) - monotonic()) > 0:
                self._changed.wait(left)
                if self._hurried() and not hurried:
                    return


def _first_error(value: Any) -> str:
    """Return the first error text of a response to events."""
    errors = value.get("errors") if isinstance(value, dict) else None
    return errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], str) else ""
