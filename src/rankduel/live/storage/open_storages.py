"""Open storages of this process. Tournaments in the same storage share one writer and one maintenance thread."""

import logging
import os
import threading
from collections.abc import Callable
from time import monotonic

from rankduel.errors import TournamentExists
from rankduel.live.storage.contract import storage_at
from rankduel.live.storage.writer import Writer

__all__ = ["acquire", "release", "release_dropped", "schedule_maintenance"]

_MAINTENANCE_INTERVAL_SECONDS = 0.25
_LOG_INTERVAL_SECONDS = 60.0  # repeated failures are logged at most this often

_log = logging.getLogger("rankduel")
_lock = threading.RLock()
_open: dict[str, "_OpenStorage"] = {}  # by process id and canonical address
_dropped: list[tuple[Writer, str]] = []  # not closed, and the lock was held when they were dropped


class _OpenStorage:
    """An open storage: its writer, its open tournaments, and the thread for their maintenance."""

    def __init__(self, url: str, *, create: bool) -> None:
        self.writer = Writer(storage_at(url, create=create))
        self.maintenance: dict[str, Callable[[], object]] = {}  # by tournament
        self.closing = threading.Event()
        threading.Thread(target=self._run_maintenance, name="rankduel maintenance", daemon=True).start()

    def _run_maintenance(self) -> None:
        logged: dict[str, float] = {}  # when the failure of a storage or a tournament was last logged
        while not self.closing.wait(_MAINTENANCE_INTERVAL_SECONDS):
            steps: dict[str, Callable[[], object]] = {
                "the storage": self.writer.storage.run_maintenance,
                "deleted tournaments": self.writer.notice_deleted,
                **self.maintenance,
            }
            for name, run in steps.items():
                try:
                    run()
                except Exception:  # the thread must survive any failure
                    if monotonic() - logged.get(name, -_LOG_INTERVAL_SECONDS) >= _LOG_INTERVAL_SECONDS:
                        logged[name] = monotonic()
                        _log.exception("%s: maintenance failed", name)


def acquire(url: str, tournament: str, *, create: bool = True) -> Writer:
    """Open a storage for a tournament, or share the open one. Call `release` at the end.

    With `create`, a storage that does not exist is created.
    Raise TournamentExists if the tournament is already open in this process.
    """
    with _lock:
        while _dropped:
            release(*_dropped.pop())
        key = _canonical(url)
        if key in _open and tournament in _open[key].maintenance:
            raise TournamentExists(
                f"tournament {tournament!r} is already open in this process; share that object between threads"
            )
        if key not in _open:
            _open[key] = _OpenStorage(url, create=create)
        opened = _open[key]
        opened.maintenance[tournament] = lambda: None
        return opened.writer


def schedule_maintenance(writer: Writer, tournament: str, run_due: Callable[[], object]) -> None:
    """Call `run_due` four times a second, until the tournament is released."""
    with _lock:
        for opened in _open.values():
            if opened.writer is writer:
                opened.maintenance[tournament] = run_due


def release(writer: Writer, tournament: str) -> None:
    """Release a storage. The last release closes it."""
    with _lock:
        for key, opened in list(_open.items()):
            if opened.writer is writer:
                opened.maintenance.pop(tournament, None)
                writer.listeners.pop(tournament, None)
                writer.storage.forget(tournament)
                writer.deleted.discard(tournament)
                writer.storage.resign(tournament)
                if not opened.maintenance:
                    del _open[key]
                    opened.closing.set()
                    writer.close()


def release_dropped(writer: Writer, tournament: str) -> None:
    """Release a storage for the garbage collector, which may run in any thread at any time. Never waits.

    A thread that opens a storage holds the lock while it starts a thread, and the collector may run in the new thread
    before it counts as started. If the lock is held, the next `acquire` releases the storage.
    """
    if not _lock.acquire(blocking=False):
        _dropped.append((writer, tournament))
        return
    try:
        release(writer, tournament)
    finally:
        _lock.release()


def _canonical(url: str) -> str:
    """Return a key that is equal for all spellings of a file's address, and differs after a fork."""
    scheme, slashes, path = str(url).partition(":///")
    return f"{os.getpid()} {scheme}{slashes}{os.path.realpath(path) if scheme == 'sqlite' else path}"
