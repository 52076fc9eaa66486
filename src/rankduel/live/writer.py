"""One thread writes for all: what comes while it waits for the disk goes with the next commit, together."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.duels import DuelRow
from rankduel.live.events import Event
from rankduel.live.storage import Committed, Entry, Storage
from rankduel.live.tray import Tray

__all__ = ["Happened", "Writer"]

_LINGER = 0.02  # seconds that entries nobody waits for may lie, so that more go with them
_HELD = 0.05  # seconds that duels are held back, or twice as many, so that most are told when they are written
_GATHER = 0.001  # seconds to wait for as many as waited for the last commit: they come back at about the same time
_FULL = 100_000  # entries that may lie; then whoever brings more waits
_LARGEST = 5_000  # entries of a commit

Happened = Callable[[list[Event], dict[str, int]], None]
_Put = tuple[str, Sequence[Entry], Future[list[Any]] | None]


class Writer:
    """A queue before a storage. What is put there together is committed together, and in the order of the queue.

    When a commit is done, first each tournament is told what has happened to it, then those who wait have their
    results. If a commit fails, nothing of it has happened: those who wait are told, and the next one is tried as if
    nothing had been.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.listeners: dict[str, Happened] = {}  # by the name of the tournament
        self.failure: Exception | None = None  # of the last commit
        self._queue: list[_Put] = []
        self._lying = 0  # entries in the queue
        self._tray = Tray(_HELD)
        self._waiting = 0  # puts in the queue that somebody waits for
        self._crowd = 0  # who waited for the last commit
        self._idle = self._closing = self._orphaned = False
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="rankduel writer", daemon=True)
        self._thread.start()

    def put(self, tournament: str, entries: Sequence[Entry]) -> Future[list[Any]]:
        """Write entries; the future has their results when they are durable."""
        future: Future[list[Any]] = Future()
        self._put(tournament, entries, future)
        return future

    def issue(self, tournament: str, rows: Sequence[DuelRow]) -> None:
        """Write duels that were asked for: with the first entry that names them, or a little later."""
        with self._lock:
            self._wait_for_room()
            if self._idle and not self._tray:
                self._work.notify()  # from now on there is something to wait for
            self._tray.put(tournament, rows)

    def put_soon(self, tournament: str, entries: Sequence[Entry]) -> None:
        """Write entries that nobody waits for: with the next commit, or a little later."""
        self._put(tournament, entries, None)

    def _put(self, tournament: str, entries: Sequence[Entry], future: Future[list[Any]] | None) -> None:
        with self._lock:
            self._wait_for_room()
            self._queue.append((tournament, entries, future))
            self._lying += len(entries)
            self._waiting += future is not None
            if self._idle or future is not None:
                self._work.notify()

    def _wait_for_room(self) -> None:
        while self._lying + len(self._tray) >= _FULL:
            if self._closing or threading.current_thread() is self._thread:
                break
            self._room.wait()
        self.check()

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
            batch, taken = following
            starts = []
            for name, entries, _ in taken:
                mine = batch.setdefault(name, [])
                starts.append(len(mine))
                mine += entries
            batch = {name: entries for name, entries in batch.items() if entries}
            try:
                committed = self.storage.commit(batch) if batch else Committed({}, {}, {})
                for name, events in committed.events.items():
                    if name in self.listeners:
                        self.listeners[name](events, committed.counts[name])
            except Exception as error:
                self.failure = error
                for _, _, future in taken:
                    if future is not None:
                        future.set_exception(error)
                continue
            if batch:  # to have written nothing proves nothing
                self.failure = None
            for (name, entries, future), start in zip(taken, starts, strict=True):
                if future is not None:
                    future.set_result(committed.results.get(name, [])[start : start + len(entries)])
        if self._orphaned:
            self.storage.close()

    def _next(self) -> tuple[dict[str, list[Entry]], list[_Put]] | None:
        """What is written next, as soon as somebody waits for it or it has lain long enough; None at the end.

        Duels that were held back, by their tournament, and what was taken from the queue.
        """
        with self._lock:
            self._idle = True
            while not self._queue and not self._closing and ((left := self._tray.left) is None or left > 0):
                self._work.wait(left)
            self._idle = False
            taken = self._from_queue()
            held: dict[str, list[Entry]] = {}
            self._tray.before(((name, entries) for name, entries, _ in taken), held)
            if not taken and self._closing:
                self._tray.empty(held)
            elif (left := self._tray.left) is not None and left <= 0:
                self._tray.turn(held)
            self._room.notify_all()
            return None if self._closing and not held and not taken else (held, taken)

    def _from_queue(self) -> list[_Put]:
        if not self._queue:
            return []
        self._linger(_LINGER, 1)
        self._linger(_GATHER, self._crowd)
        count = size = 0
        while count < len(self._queue) and size < _LARGEST:
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
