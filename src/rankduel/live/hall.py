"""Which storages this process has open: its tournaments share a writer, and a thread that looks after them."""

import logging
import os
import threading
from collections.abc import Callable

from rankduel.errors import TournamentExists
from rankduel.live.storage import storage_at
from rankduel.live.writer import Writer

__all__ = ["enter", "leave", "look_after"]

_EVERY = 0.25  # seconds between two looks

_log = logging.getLogger("rankduel")
_lock = threading.RLock()
_open: dict[str, "_Room"] = {}  # by the address of the storage


class _Room:
    """A storage that is open: its writer, and the tournaments in it."""

    def __init__(self, url: str) -> None:
        self.writer = Writer(storage_at(url))
        self.tournaments: dict[str, Callable[[], object]] = {}  # by name: what looks after it
        self.closing = threading.Event()
        threading.Thread(target=self._look, name="rankduel keeper", daemon=True).start()

    def _look(self) -> None:
        while not self.closing.wait(_EVERY):
            self.writer.storage.rest()
            for name, look in list(self.tournaments.items()):
                try:
                    look()
                except Exception:
                    _log.exception("%s: what is due was not done", name)


def enter(url: str, tournament: str) -> Writer:
    """The writer of a storage, for a tournament that is not open in this process."""
    with _lock:
        place = _place(url)
        if place in _open and tournament in _open[place].tournaments:
            raise TournamentExists(f"{tournament!r} is open in this process already: share that object between threads")
        if place not in _open:
            _open[place] = _Room(url)
        room = _open[place]
        room.tournaments[tournament] = lambda: None
        return room.writer


def look_after(writer: Writer, tournament: str, look: Callable[[], object]) -> None:
    """Call `look` now and then, until the tournament is closed."""
    with _lock:
        for room in _open.values():
            if room.writer is writer:
                room.tournaments[tournament] = look


def leave(writer: Writer, tournament: str) -> None:
    """The tournament is closed; the last one closes the storage."""
    with _lock:
        for place, room in list(_open.items()):
            if room.writer is writer:
                room.tournaments.pop(tournament, None)
                writer.listeners.pop(tournament, None)
                writer.storage.resign(tournament)
                if not room.tournaments:
                    del _open[place]
                    room.closing.set()
                    writer.close()


def _place(url: str) -> str:
    """The same for all ways to write the address of a file; another one after a fork."""
    scheme, slashes, path = str(url).partition(":///")
    return f"{os.getpid()} {scheme}{slashes}{os.path.realpath(path) if scheme == 'sqlite' else path}"
