"""Group commit: one writer thread batches everything that arrives while the previous commit is syncing."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.storage.contract import Batch, Committed, Entry, Storage, StorageBusy
from rankduel.live.storage.pending_asks import PendingAsks

__all__ = ["Happened", "Writer"]

_LINGER = 0.02  # seconds that entries nobody waits for may lie, so that more go with them
_HELD = 0.05  # seconds that duels are held back, or twice as many, so that most are told when they are written
_GATHER = 0.001  # seconds to wait for as many as waited for the last commit: they come back at about the same time
_MAX_QUEUED_ENTRIES = 100_000
_MAX_ENTRIES_PER_COMMIT = 5_000
_STALL_SECONDS = 5.0  # after which a commit that is not done yet counts as one that hangs
_BUSY_SECONDS = 15.0  # after which entries that wait for a lock of another process fail

Happened = Callable[[list[Event], dict[str, int]], None]
_Put = tuple[str, Sequence[Entry], Future[list[Any]] | None]


class Writer:
    """A queue before a storage. What is put there together is committed together, and in the order of the queue.

    When a commit is done, first each tournament is told what has happened to it, then those who wait have their
    results. If a commit fails, nothing of it has happened: those who wait are told, and the next one is tried as if
    nothing had been. If another process holds the lock of a tournament, its entries go back to the head of the queue,
    and other tournaments do not wait for it.

    Only `put` may wait, for room in the queue. Nothing else here blocks, whatever the disk does.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.listeners: dict[str, Happened] = {}  # by the name of the tournament
        self.failure: Exception | None = None  # of the last commit
        self._queue: list[_Put] = []
        self._lying = 0  # entries in the queue
        self._pending_asks = PendingAsks(_HELD)
        self._waiting = 0  # puts in the queue that somebody waits for
        self._crowd = 0  # who waited for the last commit
        self._idle = self._closing = self._orphaned = False
        self._commit_began: float | None = None  # the commit that is not done yet
        self._busy_since: dict[str, float] = {}  # tournaments whose lock another process holds
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="rankduel writer", daemon=True)
        self._thread.start()

    @property
    def stalled(self) -> bool:
        """Whether the storage does not keep up: a commit hangs, or the queue is full."""
        began = self._commit_began
        return self._full or (began is not None and monotonic() - began > _STALL_SECONDS)

    @property
    def _full(self) -> bool:
        return self._lying + len(self._pending_asks) >= _MAX_QUEUED_ENTRIES

    def put(self, tournament: str, entries: Sequence[Entry]) -> Future[list[Any]]:
        """Write entries; the future has their results when they are durable. Waits while the queue is full."""
        future: Future[list[Any]] = Future()
        with self._lock:
            while self._full and not self._closing and threading.current_thread() is not self._thread:
                self._room.wait()
            self._put(tournament, entries, future)
        return future

    def put_now(self, tournament: str, entries: Sequence[Entry]) -> Future[list[Any]]:
        """The same, without waiting: StorageError if the queue is full."""
        future: Future[list[Any]] = Future()
        with self._lock:
            if self._full:
                raise StorageError(f"the storage does not keep up: {self._lying:,} entries wait to be written")
            self._put(tournament, entries, future)
        return future

    def put_soon(self, tournament: str, entries: Sequence[Entry]) -> None:
        """Write entries that nobody waits for, with the next commit or a little later; not if the queue is full."""
        with self._lock:
            if not self._full:
                self._put(tournament, entries, None)

    def issue(self, tournament: str, rows: Sequence[DuelRow]) -> None:
        """Write duels that were asked for: with the first entry that names them, or a little later."""
        with self._lock:
            self.check()
            if self._idle and not self._pending_asks:
                self._work.notify()  # from now on there is something to wait for
            self._pending_asks.put(tournament, rows)

    def _put(self, tournament: str, entries: Sequence[Entry], future: Future[list[Any]] | None) -> None:
        self.check()
        self._queue.append((tournament, entries, future))
        self._lying += len(entries)
        self._waiting += future is not None
        if self._idle or future is not None:
            self._work.notify()

    def flush(self, tournament: str) -> None:
        """Wait for all that was put so far."""
        self.put(tournament, ()).result()

    def check(self) -> None:
        """Raise if this writer does not write any more."""
        if self._process != os.getpid():
            raise StorageError(f"opened by process {self._process}, used by {os.getpid()}: open it after the fork")
        if self._closing:
            raise StorageError("this storage is closed")

    def close(self) -> None:
        """Write what is left, and close the storage."""
        if self._process != os.getpid():
            return  # the parent's: it has the thread
        with self._lock:
            self._closing = True
            self._work.notify()
            self._room.notify_all()
        if threading.current_thread() is self._thread:  # the garbage collector may call from anywhere
            self._orphaned = True
        else:
            self._thread.join()
            self.storage.close()

    def _run(self) -> None:
        while (following := self._next()) is not None:
            held, taken = following
            puts: list[_Put] = [*((name, rows, None) for name, rows in held.items()), *taken]
            self._commit_began = monotonic()
            locked = {name for name, _, _ in puts} & self._busy_since.keys() if self._busy_since else ()
            self._write([put for put in puts if put[0] not in locked] if locked else puts)
            for name in locked:
                self._write([put for put in puts if put[0] == name])
            self._commit_began = None
        if self._orphaned:
            self.storage.close()

    def _write(self, puts: list[_Put]) -> None:
        """Commit all of them; if another process holds a lock, those of each tournament by themselves."""
        batch: dict[str, list[Entry]] = {}
        starts = []
        for name, entries, _ in puts:
            mine = batch.setdefault(name, [])
            starts.append(len(mine))
            mine += entries
        batch = {name: entries for name, entries in batch.items() if entries}
        try:
            committed = self._commit(batch) if batch else Committed({}, {}, {})
        except StorageBusy as error:
            if len(batch) > 1:
                for name in dict.fromkeys(name for name, _, _ in puts):
                    self._write([put for put in puts if put[0] == name])
            else:
                self._postpone(next(iter(batch)), puts, error)
            return
        except Exception as error:
            self._fail(puts, error)
            return
        for (name, entries, future), start in zip(puts, starts, strict=True):
            if future is not None:
                future.set_result(committed.results.get(name, [])[start : start + len(entries)])

    def _commit(self, batch: Batch) -> Committed:
        committed = self.storage.commit(batch)
        for name, events in committed.events.items():
            self._busy_since.pop(name, None)
            if name in self.listeners:
                self.listeners[name](events, committed.counts[name])
        self.failure = None
        return committed

    def _postpone(self, tournament: str, puts: list[_Put], error: StorageBusy) -> None:
        """Try the entries of a locked tournament again with the next commit, but not for ever."""
        since = self._busy_since.setdefault(tournament, monotonic())
        if self._closing or monotonic() - since > _BUSY_SECONDS:
            del self._busy_since[tournament]
            self._fail(puts, error)
            return
        with self._lock:
            self._queue[:0] = puts
            self._lying += sum(len(entries) for _, entries, _ in puts)
            self._waiting += sum(future is not None for _, _, future in puts)

    def _fail(self, puts: list[_Put], error: Exception) -> None:
        self.failure = error
        for _, _, future in puts:
            if future is not None:
                future.set_exception(error)

    def _next(self) -> tuple[dict[str, list[Entry]], list[_Put]] | None:
        """What is written next, as soon as somebody waits for it or it has lain long enough; None at the end.

        Duels that were held back, by their tournament, and what was taken from the queue.
        """
        with self._lock:
            self._idle = True
            while not self._queue and not self._closing and ((left := self._pending_asks.left) is None or left > 0):
                self._work.wait(left)
            self._idle = False
            taken = self._from_queue()
            held: dict[str, list[Entry]] = {}
            self._pending_asks.before(((name, entries) for name, entries, _ in taken), held)
            if not taken and self._closing:
                self._pending_asks.empty(held)
            elif (left := self._pending_asks.left) is not None and left <= 0:
                self._pending_asks.turn(held)
            self._room.notify_all()
            return None if self._closing and not held and not taken else (held, taken)

    def _from_queue(self) -> list[_Put]:
        if not self._queue:
            return []
        self._linger(_LINGER, 1)
        self._linger(_GATHER, self._crowd)
        if self._busy_since:  # a tournament that waits for a lock keeps no other one waiting
            self._queue.sort(key=lambda put: put[0] in self._busy_since)
        count = size = 0
        while count < len(self._queue) and size < _MAX_ENTRIES_PER_COMMIT:
            size += len(self._queue[count][1])
            count += 1
        taken, self._queue = self._queue[:count], self._queue[count:]
        self._lying -= size
        self._crowd = sum(future is not None for _, _, future in taken)
        self._waiting -= self._crowd
        return taken

    def _linger(self, seconds: float, crowd: int) -> None:
        """Wait so long at most, until so many wait."""
        due = monotonic() + seconds
        while self._waiting < crowd and not self._closing and (left := due - monotonic()) > 0:
            self._work.wait(left)
