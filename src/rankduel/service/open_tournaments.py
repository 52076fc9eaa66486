"""Open tournaments of the server: each stays open while the server runs, and broken ones are retried every minute."""

import logging
import threading
from contextlib import suppress
from time import monotonic
from typing import Any

from rankduel.errors import BrokenTournament, UnknownTournament
from rankduel.live import LocalTournament, Storage
from rankduel.live.defaults import DAY
from rankduel.live.runtime.deletion import remove_deleted
from rankduel.live.runtime.retention import Retention
from rankduel.live.storage.open_storages import acquire, release, schedule_maintenance
from rankduel.service.settings import ServiceSettings

__all__ = ["OpenTournaments"]

_RETRY_SECONDS = 60.0  # interval between two attempts to open a broken tournament
_log = logging.getLogger("rankduel.service")
_NO_TOURNAMENT = ""  # not a valid name: this entry keeps the storage open without any tournament


class OpenTournaments:
    """A storage and its open tournaments. Thread-safe."""

    def __init__(self, url: str, settings: ServiceSettings, *, create: bool) -> None:
        self.url = url
        self.tournaments: dict[str, LocalTournament] = {}
        self.broken: dict[str, str] = {}  # tournaments that cannot be opened, with the reason
        self._tried: dict[str, float] = {}  # time of the last attempt to open each broken one
        self._lock = threading.Lock()
        self._writer = acquire(url, _NO_TOURNAMENT, create=create)
        if settings.retention_days:
            age, query_ids = DAY * settings.retention_days, settings.retention_query_ids
            retention = Retention(self._writer, age, query_ids=query_ids)
            schedule_maintenance(self._writer, _NO_TOURNAMENT, retention.run_due)

    @property
    def storage(self) -> Storage:
        """The storage."""
        return self._writer.storage

    @property
    def stalled(self) -> bool:
        """Whether the storage does not keep up with writes. Never waits for the storage."""
        return self._writer.stalled

    @property
    def write_failure(self) -> Exception | None:
        """Why the last write failed, or None if it succeeded. Never waits for the storage."""
        return self._writer.failure

    def check_writable(self) -> None:
        """Find out soon whether the storage can be written, also if nobody writes. Never waits for the storage."""
        self._writer.check_writable()

    def names(self) -> list[str]:
        """Read the names of all tournaments, in alphabetical order."""
        return self.storage.names()

    def open_all(self) -> None:
        """Open all tournaments except broken ones, so that no request has to wait.

        Remove what is left of tournaments whose deletion was interrupted.
        """
        remove_deleted(self._writer)
        for name in self.names():
            with suppress(BrokenTournament):
                self.open(name)

    def open(self, name: str) -> LocalTournament:
        """Return a tournament and keep it open. Raise BrokenTournament if it cannot be opened."""
        with self._lock:
            if name in self.tournaments and not self.tournaments[name].deleted:
                return self.tournaments[name]
            if name in self.tournaments:  # another process has deleted it
                self.tournaments.pop(name).close()
            if name in self.broken and monotonic() - self._tried[name] < _RETRY_SECONDS:
                raise BrokenTournament(self.broken[name])
            try:
                self.tournaments[name] = LocalTournament.open(name, storage=self.url)
            except UnknownTournament:  # its message names the storage, which clients must not see
                detail = f"no tournament {name!r}; GET /v1/tournaments lists all tournaments"
                raise UnknownTournament(detail) from None
            except Exception as error:
                if name not in self.names():  # not a valid name
                    raise
                self._tried[name] = monotonic()
                self.broken[name] = self._public_reason(error)
                _log.error("cannot open a tournament", extra={"tournament": name}, exc_info=error)
                raise BrokenTournament(self.broken[name]) from error
            self.broken.pop(name, None)
            return self.tournaments[name]

    def _public_reason(self, error: Exception) -> str:
        """Return the message of an error without the address of the storage and the Python class of the cause."""
        reason = self.storage.redacted(str(error))
        cause = error.__cause__
        if cause is None:
            return reason
        return reason.replace(f"{type(cause).__name__}: ", "unknown value " if isinstance(cause, KeyError) else "")

    def create(self, name: str, settings: dict[str, Any]) -> LocalTournament:
        """Create a tournament, or return the existing one if it has the same settings."""
        with self._lock:
            if name in self.broken:
                raise BrokenTournament(self.broken[name])
            if name in self.tournaments and self.tournaments[name].deleted:
                self.tournaments.pop(name).close()
            if name in self.tournaments:
                self.tournaments[name].check_same(**settings)
            else:
                self.tournaments[name] = LocalTournament.create(name, storage=self.url, exist_ok=True, **settings)
            return self.tournaments[name]

    def delete(self, name: str) -> None:
        """Delete a tournament whose status allows it."""
        with self._lock:
            if name in self.tournaments:
                self.tournaments.pop(name).close()
            LocalTournament.delete(name, storage=self.url, confirm=name)

    def close(self) -> None:
        """Write pending entries and close the storage."""
        with self._lock:
            for tournament in self.tournaments.values():
                tournament.close()
            release(self._writer, _NO_TOURNAMENT)
