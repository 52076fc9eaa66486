"""One thread writes for all: what comes while it waits for the disk goes with the next commit, together."""

import os
import threading
from time import monotonic

from rankduel.errors import StorageError
from rankduel.live.storage import Entry, Storage

__all__ = ["Writer"]

_LINGER = 0.02  # seconds that entries nobody waits for may lie, so that more go with them
_GATHER = 0.001  # seconds to wait for as many as waited for the last commit: they come back at about the same time
_FULL = 100_000  # entries that may lie; then whoever brings more waits


class Writer:
    """A queue before a storage. `put` hands out a ticket at once; `wait` returns when all up to a ticket is durable.

    If the storage fails, nothing is written any more, and everybody is told: what was not durable then must not be
    built upon. Opened again, a tournament goes on from what is.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.done = 0  # tickets that are durable
        self._queue: list[Entry] = []
        self._given = 0
        self._waiting: list[int] = []  # tickets
        self._crowd = 0  # who waited when the last commit was done
        self._idle = False
        self._closing = self._orphaned = False
        self._failure: Exception | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._written = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="rankduel writer", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> int:
        """Queue an entry; its ticket."""
        with self._lock:
            while len(self._queue) >= _FULL and self._failure is None:
                self._written.wait()
            self.check()
            self._queue.append(entry)
            self._given += 1
            if self._idle:
                self._work.notify()
            return self._given

    def wait(self, ticket: int) -> None:
        """Return when everything up to that ticket is durable; raise if it will not be."""
        if self.done >= ticket:
            return
        with self._lock:
            self._waiting.append(ticket)
            self._work.notify()
            while self.done < ticket:
                self._check_disk()
                self._written.wait()

    def flush(self) -> None:
        """Wait for all that was put so far."""
        self.wait(self._given)

    @property
    def failed(self) -> bool:
        """Whether the storage has failed."""
        return self._failure is not None

    def check(self) -> None:
        """Raise if this writer does not write any more."""
        if self._closing:
            raise StorageError("this storage is closed")
        self._check_disk()

    def _check_disk(self) -> None:
        if self._failure is not None:
            raise StorageError(f"nothing is stored any more, open it again: {self._failure}") from self._failure
        if self._process != os.getpid():
            raise StorageError(f"opened by process {self._process}, used by {os.getpid()}: open it after the fork")

    def close(self) -> None:
        """Write what is left, and close the storage."""
        if self._process != os.getpid():
            return  # the parent's: it has the thread
        with self._lock:
            self._closing = True
            self._work.notify()
        if threading.current_thread() is self._thread:  # the garbage collector may call from anywhere
            self._orphaned = True
        else:
            self._thread.join()
            self.storage.close()

    def _run(self) -> None:
        while batch := self._next():
            try:
                self.storage.append(batch)
            except Exception as error:
                with self._lock:
                    self._failure = error
                    self._written.notify_all()
                return
            with self._lock:
                self.done += len(batch)
                self._crowd = len(self._waiting)
                self._waiting = [ticket for ticket in self._waiting if ticket > self.done]
                self._written.notify_all()
        if self._orphaned:
            self.storage.close()

    def _next(self) -> list[Entry]:
        """The next batch, as soon as somebody waits for it or it has lain long enough; empty at the end."""
        with self._lock:
            self._idle = True
            while not self._queue and not self._closing:
                self._work.wait()
            self._idle = False
            self._linger(_LINGER, 1)
            self._linger(_GATHER, self._crowd)
            batch, self._queue = self._queue, []
            return batch

    def _linger(self, seconds: float, crowd: int) -> None:
        """Wait so long at most, until so many wait."""
        due = monotonic() + seconds
        while len(self._waiting) < crowd and not self._closing and (left := due - monotonic()) > 0:
            self._work.wait(left)
