"""One thread writes for all: what comes while it waits for the disk goes with the next commit, together."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.events import Event
from rankduel.live.storage import Committed, Entry, Storage

__all__ = ["Happened", "Writer"]

_LINGER = 0.02  # seconds that entries nobody waits for may lie, so that more go with them
_GATHER = 0.001  # seconds to wait for as many as waited for the last commit: they come back at about the same time
_FULL = 100_000  # entries that may lie; then whoever brings more waits
_LARGEST = 5_000  # entries of a commit

Happened = Callable[[list[Event], dict[str, int]], None]


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
        self._queue: list[tuple[str, Sequence[Entry], Future[list[Any]] | None]] = []
        self._lying = 0  # entries in the queue
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

    def put_soon(self, tournament: str, entries: Sequence[Entry]) -> None:
        """Write entries that nobody waits for: with the next commit, or a little later."""
        self._put(tournament, entries, None)

    def _put(self, tournament: str, entries: Sequence[Entry], future: Future[list[Any]] | None) -> None:
        with self._lock:
            while self._lying >= _FULL and not self._closing and threading.current_thread() is not self._thread:
                self._room.wait()
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
        while taken := self._next():
            batch = [(name, entry) for name, entries, _ in taken for entry in entries]
            try:
                committed = self.storage.commit(batch) if batch else Committed([], {}, {})
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
            start = 0
            for _, entries, future in taken:
                if future is not None:
                    future.set_result(committed.results[start : start + len(entries)])
                start += len(entries)
        if self._orphaned:
            self.storage.close()

    def _next(self) -> list[tuple[str, Sequence[Entry], Future[list[Any]] | None]]:
        """What is written next, as soon as somebody waits for it or it has lain long enough; empty at the end."""
        with self._lock:
            self._idle = True
            while not self._queue and not self._closing:
                self._work.wait()
            self._idle = False
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
            self._room.notify_all()
            return taken

    def _linger(self, seconds: float, crowd: int) -> None:
        """Wait so long at most, until so many wait."""
        due = monotonic() + seconds
        while self._waiting < crowd and not self._closing and (left := due - monotonic()) > 0:
            self._work.wait(left)
