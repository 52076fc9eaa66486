"""Leader election on PostgreSQL: the leader of a tournament is the process that holds its advisory lock.

The leader resolves and expires duels, checks guardrails and writes snapshots. The lock ends with its connection, so
another process takes over when a leader is killed or disconnected. If a leader hangs, its connection is idle, and the
database closes it after 10 s.

A process that opened the storage only for reading never leads (`PostgresStorage.leads`). SQLite needs no election: the
process that owns the file leads.
"""

from hashlib import blake2b
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.postgres_connection import Connection, ReconnectingConnection, psycopg

__all__ = ["LeaderElection"]

_SILENT_LEADER_SECONDS = 10.0  # then the database disconnects a hanging leader, which should check 4 times a second
_TRY_LOCK = "SELECT pg_try_advisory_lock($1)"
_UNLOCK = "SELECT pg_advisory_unlock($1)"


class LeaderElection:
    """The tournaments that this process leads, by advisory locks on a separate connection."""

    def __init__(self, address: dict[str, Any]) -> None:
        self._connection = ReconnectingConnection(address, idle_timeout_seconds=_SILENT_LEADER_SECONDS)
        self.led: dict[str, Connection] = {}  # tournaments that this process leads, with the connection of the lock
        self._resigned: set[str] = set()  # tournaments whose lock is to be released

    def leads(self, tournament: str) -> bool:
        """Whether this process is the leader of a tournament. It becomes the leader if there is none."""
        try:
            with self._connection.lock:
                connection = self._connection.checked()  # a new connection holds no locks
                for name in list(self._resigned):
                    self._resigned.discard(name)
                    if self.led.pop(name, None) is connection:
                        connection.execute(_UNLOCK, (_lock_number(name),))
                if self.led.get(tournament) is not connection:
                    if connection.execute(_TRY_LOCK, (_lock_number(tournament),)).fetchone() != (True,):
                        return False
                    self.led[tournament] = connection
                return True
        except (psycopg.Error, StorageError):
            return False

    def resign(self, tournament: str) -> None:
        """Let another process lead. The next `leads` releases the lock, since callers of this may hold any lock."""
        self._resigned.add(tournament)

    def close(self) -> None:
        self._connection.close()


def _lock_number(tournament: str) -> int:
    """Return the number of the advisory lock of a tournament."""
    return int.from_bytes(blake2b(tournament.encode(), key=b"rankduel", digest_size=8).digest(), "big", signed=True)
