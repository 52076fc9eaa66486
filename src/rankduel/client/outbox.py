"""Outbox: a background thread sends queued tells, pages and events in batches, with bounded retries."""

import random
import threading
from collections import Counter, deque
from dataclasses import dataclass
from time import monotonic

from rankduel.client.counters import Tally
from rankduel.client.transport import Answer, Failure, Transport

__all__ = ["Outbox", "Route"]

_LINGER_SECONDS = 0.05  # that an item waits, so that more go with it
_IDLE_CHECK_SECONDS = 10.0  # after which the thread checks whether its client is gone
_CALL_TIMEOUT_SECONDS = 10.0  # then the request is sent again
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 30.0  # between attempts
_MAX_BATCH_BYTES = 500_000  # half of what a service takes
_MAX_FAILED_ATTEMPTS = 3  # answers of status 500 to a batch, before it is halved
_RETRY_STATUSES = (408, 425, 429)  # try again later
_CONFLICT_STATUS = 409  # of a single tell: something else was told before, and stays
_BAD_REQUEST_STATUSES = (400, 413, 422)  # something in the batch is wrong, not the key
_STATUSES = {
    "accepted": "accepted",
    "duplicate": "duplicate",
    "conflict": "conflict",
    "late": "told_late",
    "unknown": "unknown",
    "limit": "limit",
    "invalid": "rejected",
}


@dataclass(frozen=True)
class Route:
    """Where something is sent: an address, how many at once, and how a batch is written and answered."""

    path: str
    max_items: int
    before: bytes = b""
    after: bytes = b""
    results: str | None = None  # the field of the answer that has a result for each item

    def body(self, items: list[bytes]) -> bytes:
        """A batch, from items that are JSON."""
        return self.before + b",".join(items) + self.after


class Outbox:
    """A bounded queue, and a thread that empties it into a service.

    The thread is started when there is something to send, does not keep a program from ending, and holds no reference
    to the client. What the service refuses for good is not sent again; a batch that it refuses or fails on is halved,
    so that one bad item costs none of the others. The queue takes `max_items` items, and `max_bytes` bytes of them.
    """

    def __init__(self, transport: Transport, tally: Tally, max_items: int, max_bytes: int) -> None:
        self._transport, self._max_items, self._max_bytes = transport, max_items, max_bytes
        self.forked(tally)

    def forked(self, tally: Tally) -> None:
        """Begin anew: after a fork, what lies here is the parent's to send, and its thread is not here."""
        self._tally = tally
        self._queues: dict[Route, deque[bytes]] = {}  # the one that has waited longest comes first
        self._waiting = 0  # items in the queues
        self._taken = 0  # items the thread has, and has not sent yet
        self._bytes = 0  # of both
        self._waited_for = 0  # how many wait for it to be empty
        self._end: float | None = None  # when closing: until when to try
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return self._waiting + self._taken

    def put(self, route: Route, text: bytes) -> bool:
        """Take in an item that is JSON; False if it must be dropped."""
        with self._changed:
            full = len(self) >= self._max_items or self._bytes + len(text) > self._max_bytes
            if full or self._end is not None:
                self._tally.add(dropped=1)
                return False
            self._queues.setdefault(route, deque()).append(text)
            self._waiting += 1
            self._bytes += len(text)
            self._tally.add(queued=1)
            if self._thread is None or not self._thread.is_alive():
                self._start()
            elif self._waiting == 1:
                self._changed.notify_all()
        return True

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="rankduel outbox", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return  # no more threads now: the next item tries again
        self._thread = thread

    def flush(self, timeout: float) -> bool:
        """Wait until everything is sent; False if that takes longer."""
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
        """Send what is left, for so long at most, and take in nothing more; the rest is dropped, and counted."""
        with self._changed:
            if self._end is None:
                self._end = monotonic() + timeout
            self._changed.notify_all()
        self.flush(timeout)
        with self._changed:
            self._end = 0.0
            self._tally.add(dropped=self._waiting)
            self._bytes -= sum(len(text) for queue in self._queues.values() for text in queue)
            self._queues.clear()
            self._waiting = 0
            self._changed.notify_all()

    def abandon(self, timeout: float = 5.0) -> None:
        """Nobody has the client any more: the thread sends what is left, for so long at most, and ends. Never waits."""
        self._end = monotonic() + timeout
        if self._changed.acquire(blocking=False):  # the garbage collector may call from anywhere, locks held or not
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
        """The next batch, and where it goes; None at the end."""
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
        """A batch of the route that comes first; if more is left, that one comes last."""
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
        self._taken += len(batch)
        return route, batch

    def _hurried(self) -> bool:
        return self._end is not None or self._waited_for > 0

    def _deliver(self, route: Route, batch: list[bytes]) -> None:
        """Send a batch until it is taken or refused, or until the end."""
        pause, failures = _FIRST_PAUSE_SECONDS, 0
        while not self._over():
            answer = self._attempt(route, batch)
            status = 0 if answer is None else answer.status
            failures += status == 500
            if 200 <= status < 300:
                self._count(route, batch, answer)
                return
            if status == _CONFLICT_STATUS and len(batch) == 1:
                self._tally.add(sent=1, conflict=1)
                return
            if len(batch) > 1 and (status in _BAD_REQUEST_STATUSES or failures == _MAX_FAILED_ATTEMPTS):
                middle = len(batch) // 2
                self._deliver(route, batch[:middle])
                self._deliver(route, batch[middle:])
                return
            if failures == _MAX_FAILED_ATTEMPTS or (200 <= status < 500 and status not in _RETRY_STATUSES):
                self._tally.add(rejected=len(batch))
                return
            self._tally.add(retries=1)
            told = 0.0 if answer is None else answer.retry_after or 0.0
            self._pause(max(told, pause * random.uniform(0.5, 1.0)))
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)
        self._tally.add(dropped=len(batch))

    def _attempt(self, route: Route, batch: list[bytes]) -> Answer | None:
        now = monotonic()
        due = (
            now + _CALL_TIMEOUT_SECONDS if self._end is None else min(now + _CALL_TIMEOUT_SECONDS, max(self._end, now))
        )
        try:
            return self._transport.call("POST", route.path, route.body(batch), due=due)
        except Failure:
            return None

    def _count(self, route: Route, batch: list[bytes], answer: Answer | None) -> None:
        value = None if answer is None else answer.value
        results = value.get(route.results) if isinstance(value, dict) else None
        counts: Counter[str] = Counter()
        for result in results[: len(batch)] if isinstance(results, list) else []:
            status = result.get("status") if isinstance(result, dict) else result
            if isinstance(status, str) and status in _STATUSES:
                counts[_STATUSES[status]] += 1
        self._tally.add(sent=len(batch) - counts["rejected"], **counts)

    def _over(self) -> bool:
        return self._end is not None and monotonic() >= self._end

    def _pause(self, seconds: float) -> None:
        """Wait; or until somebody begins to wait for us."""
        due = monotonic() + seconds
        with self._changed:
            hurried = self._hurried()
            while (left := (due if self._end is None else min(due, self._end)) - monotonic()) > 0:
                self._changed.wait(left)
                if self._hurried() and not hurried:
                    return
