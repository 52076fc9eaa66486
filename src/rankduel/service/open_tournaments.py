"""The tournaments of one storage, all open, for as long as the server runs."""

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

from rankduel.errors import BrokenTournament
from rankduel.live import LocalTournament, Storage
from rankduel.live.storage.open_storages import acquire, release
from rankduel.service.metrics import sample

__all__ = ["OpenTournaments"]

_RETRY_SECONDS = 60.0  # after which a tournament that could not be opened is tried again
_log = logging.getLogger("rankduel.service")
_NOBODY = ""  # no tournament has this name: it keeps the storage open where there is none


class OpenTournaments:
    """A storage and its tournaments. Any thread may call."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tournaments: dict[str, LocalTournament] = {}
        self.broken: dict[str, str] = {}  # why a tournament cannot be opened
        self._tried: dict[str, float] = {}  # when the broken ones were tried last
        self._lock = threading.Lock()
        self._writer = acquire(url, _NOBODY)

    @property
    def storage(self) -> Storage:
        """Where they are kept."""
        return self._writer.storage

    @property
    def write_failure(self) -> str | None:
        """Why nothing can be written now, without details; None if it can. Never waits for the storage."""
        if self._writer.stalled:
            return "the storage does not keep up with writes"
        return None if self._writer.failure is None else "the storage cannot be written"

    def names(self) -> list[str]:
        """All tournaments of the storage, in alphabetical order."""
        return self.storage.names()

    def open_all(self) -> None:
        """Open every tournament, so that nobody waits for it later. One that is broken keeps no other one closed."""
        for name in self.names():
            with suppress(BrokenTournament):
                self.open(name)

    def open(self, name: str) -> LocalTournament:
        """A tournament, which stays open; BrokenTournament if it cannot be opened."""
        with self._lock:
            if name in self.tournaments:
                return self.tournaments[name]
            if name in self.broken and monotonic() - self._tried[name] < _RETRY_SECONDS:
                raise BrokenTournament(self.broken[name])
            try:
                self.tournaments[name] = LocalTournament.open(name, storage=self.url)
            except Exception as error:
                if name not in self.names():  # unknown, or no name at all
                    raise
                self._tried[name] = monotonic()
                self.broken[name] = f"{error}".replace(self.storage.url.removeprefix("sqlite:///"), "the storage")
                _log.error("a tournament cannot be opened", extra={"tournament": name}, exc_info=error)
                raise BrokenTournament(self.broken[name]) from error
            self.broken.pop(name, None)
            return self.tournaments[name]

    def create(self, name: str, settings: dict[str, Any]) -> LocalTournament:
        """Begin a tournament, or find the one that was begun with the same settings."""
        with self._lock:
            if name in self.broken:
                raise BrokenTournament(self.broken[name])
            if name in self.tournaments:
                self.tournaments[name].check_same(**settings)
            else:
                self.tournaments[name] = LocalTournament.create(name, storage=self.url, exist_ok=True, **settings)
            return self.tournaments[name]

    def metrics(self) -> list[str]:
        """The duels of each tournament, for Prometheus."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        name = "rankduel_duels_total"
        yield f"# HELP {name} Duels of a tournament, by what became of them."
        yield f"# TYPE {name} counter"
        for tournament in sorted(self.tournaments):
            counts = self.tournaments[tournament].durable_counts
            for what in type(counts).__slots__:
                yield sample(name, {"tournament": tournament, "became": what}, getattr(counts, what))
        name = "rankduel_maintenance_failing"
        yield f"# HELP {name} 1 if duels are not resolved, do not expire, or guardrails are not checked."
        yield f"# TYPE {name} gauge"
        for tournament in sorted(self.tournaments):
            failing = self.tournaments[tournament].maintenance_failure is not None
            yield sample(name, {"tournament": tournament}, int(failing))
        yield "# HELP rankduel_tournament_broken 1 for a tournament that cannot be opened."
        yield "# TYPE rankduel_tournament_broken gauge"
        for tournament in sorted(self.broken):
            yield sample("rankduel_tournament_broken", {"tournament": tournament}, 1)
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
            release(self._writer, _NOBODY)
