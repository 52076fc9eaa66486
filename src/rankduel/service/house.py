"""The tournaments of one storage, all open, for as long as the server runs."""

import threading
from collections.abc import Iterator
from typing import Any

from rankduel.live import Storage, Tournament
from rankduel.live.hall import enter, leave
from rankduel.service.metrics import sample

__all__ = ["House"]

_NOBODY = ""  # no tournament has this name: it keeps the storage open where there is none


class House:
    """A storage and its tournaments. Any thread may call."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tournaments: dict[str, Tournament] = {}
        self._lock = threading.Lock()
        self._writer = enter(url, _NOBODY)

    @property
    def storage(self) -> Storage:
        """Where they are kept."""
        return self._writer.storage

    def names(self) -> list[str]:
        """All tournaments of the storage, in alphabetical order."""
        return self.storage.names()

    def open_all(self) -> None:
        """Open every tournament, so that nobody waits for it later."""
        for name in self.names():
            self.open(name)

    def open(self, name: str) -> Tournament:
        """A tournament, which stays open."""
        with self._lock:
            if name not in self.tournaments:
                self.tournaments[name] = Tournament.open(name, storage=self.url)
            return self.tournaments[name]

    def create(self, name: str, settings: dict[str, Any]) -> Tournament:
        """Begin a tournament, or find the one that was begun with the same settings."""
        with self._lock:
            if name in self.tournaments:
                self.tournaments[name].check_same(**settings)
            else:
                self.tournaments[name] = Tournament.create(name, storage=self.url, exist_ok=True, **settings)
            return self.tournaments[name]

    def metrics(self) -> list[str]:
        """The duels of each tournament, for Prometheus."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        name = "rankduel_duels_total"
        yield f"# HELP {name} Duels of a tournament, by what became of them."
        yield f"# TYPE {name} counter"
        for tournament in sorted(self.tournaments):
            counts = self.tournaments[tournament].health().counts
            for what in type(counts).__slots__:
                yield sample(name, {"tournament": tournament, "became": what}, getattr(counts, what))
        yield "# HELP rankduel_rankers_left Rankers that are left in a tournament."
        yield "# TYPE rankduel_rankers_left gauge"
        for tournament in sorted(self.tournaments):
            left = len(self.tournaments[tournament].decision().left)
            yield sample("rankduel_rankers_left", {"tournament": tournament}, left)

    def close(self) -> None:
        """Write what is left, and let go of the storage."""
        with self._lock:
            for tournament in self.tournaments.values():
                tournament.close()
            leave(self._writer, _NOBODY)
