"""All tournaments of a storage, open as long as the server runs; broken ones are tried again now and then."""

import logging
import threading
from contextlib import suppress
from time import monotonic
from typing import Any

from rankduel.errors import BrokenTournament
from rankduel.live import LocalTournament, Storage
from rankduel.live.storage.open_storages import acquire, release

__all__ = ["OpenTournaments"]

_RETRY_SECONDS = 60.0  # after which a tournament that could not be opened is tried again
_log = logging.getLogger("rankduel.service")
_NO_TOURNAMENT = ""  # no tournament has this name: it keeps the storage open even if there is none


class OpenTournaments:
    """A storage and its open tournaments. Any thread may use it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tournaments: dict[str, LocalTournament] = {}
        self.broken: dict[str, str] = {}  # tournaments that cannot be opened, with the reason
        self._tried: dict[str, float] = {}  # when each broken one was tried last
        self._lock = threading.Lock()
        self._writer = acquire(url, _NO_TOURNAMENT)

    @property
    def storage(self) -> Storage:
        """The storage."""
        return self._writer.storage

    @property
    def write_failure(self) -> str | None:
        """Why nothing can be written now, without details; None if it can. Never waits for the storage."""
        if self._writer.stalled:
            return "the storage does not keep up with writes"
        return None if self._writer.failure is None else "the storage cannot be written"

    def names(self) -> list[str]:
        """Read the names of all tournaments, in alphabetical order."""
        return self.storage.names()

    def open_all(self) -> None:
        """Open every tournament that is not broken, so that no request has to wait for it."""
        for name in self.names():
            with suppress(BrokenTournament):
                self.open(name)

    def open(self, name: str) -> LocalTournament:
        """Return a tournament, which stays open; raise BrokenTournament if it cannot be opened."""
        with self._lock:
            if name in self.tournaments:
                return self.tournaments[name]
            if name in self.broken and monotonic() - self._tried[name] < _RETRY_SECONDS:
                raise BrokenTournament(self.broken[name])
            try:
                self.tournaments[name] = LocalTournament.open(name, storage=self.url)
            except Exception as error:
                if name not in self.names():  # unknown, or not a valid name
                    raise
                self._tried[name] = monotonic()
                self.broken[name] = f"{error}".replace(self.storage.url.removeprefix("sqlite:///"), "the storage")
                _log.error("cannot open a tournament", extra={"tournament": name}, exc_info=error)
                raise BrokenTournament(self.broken[name]) from error
            self.broken.pop(name, None)
            return self.tournaments[name]

    def create(self, name: str, settings: dict[str, Any]) -> LocalTournament:
        """Create a tournament, or return the one that was created with the same settings."""
        with self._lock:
            if name in self.broken:
                raise BrokenTournament(self.broken[name])
            if name in self.tournaments:
                self.tournaments[name].check_same(**settings)
            else:
                self.tournaments[name] = LocalTournament.create(name, storage=self.url, exist_ok=True, **settings)
            return self.tournaments[name]

    def close(self) -> None:
        """Write everything that is pending, and close the storage."""
        with self._lock:
            for tournament in self.tournaments.values():
                tournament.close()
            release(self._writer, _NO_TOURNAMENT)
