"""Which storages this process has open: the tournaments of one storage share its writer."""

import os
import threading

from rankduel.errors import TournamentExists
from rankduel.live.storage import storage_at
from rankduel.live.writer import Writer

__all__ = ["enter", "leave"]

_lock = threading.RLock()
_open: dict[str, tuple[Writer, set[str]]] = {}  # by the address of the storage: its writer, and who is open


def enter(url: str, tournament: str) -> Writer:
    """The writer of a storage, for a tournament that is not open in this process."""
    with _lock:
        place = _place(url)
        if place in _open and tournament in _open[place][1]:
            raise TournamentExists(f"{tournament!r} is open in this process already: share that object between threads")
        if place not in _open:
            _open[place] = Writer(storage_at(url)), set()
        writer, tournaments = _open[place]
        tournaments.add(tournament)
        return writer


def leave(writer: Writer, tournament: str) -> None:
    """The tournament is closed; the last one closes the storage."""
    with _lock:
        for place, (known, tournaments) in list(_open.items()):
            if known is writer:
                tournaments.discard(tournament)
                if not tournaments:
                    del _open[place]
                    writer.close()


def _place(url: str) -> str:
    """The same for all ways to write the address of a file; another one after a fork."""
    scheme, slashes, path = str(url).partition(":///")
    return f"{os.getpid()} {scheme}{slashes}{os.path.realpath(path)}"
