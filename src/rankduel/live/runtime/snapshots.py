"""Take snapshots of the state of a tournament, so that opening it replays few events.

`TournamentRuntime` asks for one after each commit and after following other processes, unless the bandit has failed.
`LocalTournament.close` takes one too.
"""

import logging
import threading

from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Storage

__all__ = ["SNAPSHOT_INTERVAL_EVENTS", "SnapshotTaker"]

SNAPSHOT_INTERVAL_EVENTS = 50_000  # replayed in less than half a second when a tournament is opened
_log = logging.getLogger("rankduel")


class SnapshotTaker:
    """Takes snapshots of one tournament. `last_event` is the number of the event of the last stored snapshot."""

    def __init__(self, name: str, storage: Storage, state: State, lock: threading.RLock, last_event: int) -> None:
        self.failure: Exception | None = None  # of the last attempt
        self._name, self._storage, self._state, self._lock = name, storage, state, lock
        self._last_event = last_event

    def take_if_due(self) -> None:
        """Take a snapshot if there are `SNAPSHOT_INTERVAL_EVENTS` events since the last one."""
        if self._state.number - self._last_event >= SNAPSHOT_INTERVAL_EVENTS:
            self.take_snapshot()

    def take_snapshot(self) -> None:
        """Store the current state, if this process is the leader and there are new events.

        Snapshots only shorten replay. So a failure is not raised but noted, with a retry after a tenth of the interval.
        """
        if self._state.number == self._last_event:
            return
        self._last_event = self._state.number
        try:
            if self._storage.leads(self._name):
                with self._lock:
                    snapshot = self._state.to_snapshot()
                self._storage.write_snapshot(self._name, snapshot)
                self.failure = None
        except Exception as error:
            self._last_event -= SNAPSHOT_INTERVAL_EVENTS - SNAPSHOT_INTERVAL_EVENTS // 10
            self.failure = error
            _log.warning("%s: cannot write a snapshot: %s", self._name, error)
