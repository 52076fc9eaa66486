"""A storage in tables, whichever the database: a batch of entries is one transaction, and all can be read."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.storage.contract import Batch, Committed, KeyRow, SignalRow, Snapshot
from rankduel.live.storage.schema import COLUMNS, SIGNAL_COLUMNS, Database, text
from rankduel.live.storage.transaction import NON_DURABLE, Taken, TournamentTransaction

__all__ = ["SqlStorage"]

_CHUNK = 10_000  # events read at once: a long read would keep SQLite's log from being folded into the file
_TAIL = 1_000  # events at the end of a journal that are read when a tournament is opened
_log = logging.getLogger("rankduel")
_FIND = f"SELECT {COLUMNS} FROM duels WHERE tournament = ? AND"


class SqlStorage(Database):
    """A storage in tables."""

    # Writing

    def commit(self, batch: Batch) -> Committed:
        """Write all entries of these tournaments or none; on return they are durable. One thread calls this."""
        try:
            return self._commit(batch, at_once=self.shared)
        except Taken:  # seldom: nothing of it has happened
            return self._commit(batch, at_once=True)

    def _commit(self, batch: Batch, *, at_once: bool) -> Committed:
        committed = Committed({}, {}, {})
        with self.transaction(durable=any(not set(map(type, entries)) <= NON_DURABLE for entries in batch.values())):
            for name in sorted(batch):  # always in this order: no two processes wait for each other
                page = TournamentTransaction(self, name, batch[name], at_once=at_once)
                page.write()
                committed.results[name] = page.results
                committed.events[name], committed.counts[name] = page.events, page.counts
        return committed

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Those of these tournaments that no other process has locked at this moment. One thread calls this."""
        return tournaments

    # Reading

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""
        owner = self.owner(tournament)
        while rows := self.select(
            "SELECT number, time, kind, body FROM journal WHERE tournament = ? AND number > ? ORDER BY number LIMIT ?",
            (owner, since, _CHUNK),
        ):
            for number, time, kind, body in rows:
                since += 1
                if number != since:
                    raise StorageError(f"{self.url} is damaged: {tournament!r} has no event {since}, but {number}")
                try:
                    yield Event(number, time, kind, json.loads(body))
                except (ValueError, TypeError) as error:
                    raise StorageError(f"{self.url} is damaged: event {number} of {tournament!r}: {error}") from error

    def changes(self, tournament: str, limit: int, before: int | None = None) -> list[Event]:
        """The latest events that are no outcomes, or the latest before that number; newest first."""
        rows = self.select(
            f"SELECT number, time, kind, body FROM {self.changed} WHERE tournament = ? AND number < ? "
            "AND kind <> 'told' ORDER BY number DESC LIMIT ?",
            (self.owner(tournament), 2**62 if before is None else before, limit),
        )
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def told_since(self, tournament: str, time: float) -> int:
        """How many outcomes the journal has from a time on. Times never go back: what was before is soon found."""
        owner = self.owner(tournament)
        last: int = self.select("SELECT number FROM tournaments WHERE id = ?", (owner,))[0][0]
        low, high = 0, last
        while low < high:
            middle = (low + high + 1) // 2
            ((at,),) = self.select("SELECT time FROM journal WHERE tournament = ? AND number = ?", (owner, middle))
            low, high = (middle, high) if at < time else (low, middle - 1)
        others = f"SELECT count(*) FROM {self.changed} WHERE tournament = ? AND number > ? AND number <= ?"
        count: int = self.select(f"{others} AND kind <> 'told'", (owner, low, last))[0][0]
        return last - low - count

    def duel(self, tournament: str, session: int, number: int) -> DuelRow | None:
        """The duel of that number."""
        rows = self.select(f"{_FIND} session = ? AND number = ?", (self.owner(tournament), session, number))
        return DuelRow(*rows[0]) if rows else None

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, for those that have one; perhaps not of those written in the last moment."""
        owner = self.owner(tournament)
        if len(queries) == 1:
            rows = self.look_up(f"{_FIND} query = ?", (owner, queries[0]))
        else:
            rows = self.look_up(self.find_queries, (text(queries), owner))
        return {row[2]: DuelRow(*row) for row in rows}

    def queries(self, tournament: str, after: str, limit: int) -> list[str]:
        """The queries that have a duel, in alphabetical order, after one of them or from "" on."""
        rows = self.select(
            "SELECT query FROM duels WHERE tournament = ? AND query > ? ORDER BY query LIMIT ?",
            (self.owner(tournament), after, limit),
        )
        return [query for (query,) in rows]

    def look_up(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read what was durable a moment ago."""
        return self.select(statement, values)

    def rest(self, *, at_once: bool = False) -> None:
        """Let go of what is held for reading, if it is old. Called now and then."""

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """The latest duels, or the latest ones before a session and number; newest first."""
        rows = self.select(
            f"{_FIND} (session, number) < (?, ?) ORDER BY session DESC, number DESC LIMIT ?",
            (self.owner(tournament), *(before or (2**62, 0)), limit),
        )
        return [DuelRow(*row) for row in rows]

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Duels that were shown, not told, and issued at that time or before."""
        statement = f"{_FIND} state = 'shown' AND issued <= ? ORDER BY issued LIMIT ?"
        return [DuelRow(*row) for row in self.select(statement, (self.owner(tournament), issued_until, limit))]

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether a `ExpireDue` would find something."""
        statement = "SELECT 1 FROM duels WHERE tournament = ? AND state IN ('issued', 'shown') AND expires <= ? LIMIT 1"
        return bool(self.select(statement, (self.owner(tournament), time)))

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """What users did on the page of a duel, in the order of time."""
        rows = self.select(
            f"SELECT {', '.join(SIGNAL_COLUMNS)} FROM signals "
            "WHERE tournament = ? AND session = ? AND number = ? ORDER BY time, key",
            (self.owner(tournament), session, number),
        )
        return [SignalRow(*row) for row in rows]

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """How many duels a client was issued since a time."""
        statement = "SELECT count(*) FROM duels WHERE tournament = ? AND client = ? AND issued >= ?"
        count: int = self.select(statement, (self.owner(tournament), client, since))[0][0]
        return count

    def counts(self, tournament: str) -> dict[str, int]:
        """The counters."""
        rows = self.select("SELECT name, value FROM counters WHERE tournament = ?", (self.owner(tournament),))
        return dict(rows)

    def last(self, tournament: str) -> int:
        """The number of the last event. Raises StorageError if the journal does not end with that event."""
        rows = self.select("SELECT number FROM tournaments WHERE name = ?", (tournament,))
        last: int = rows[0][0] if rows else 0
        if not any(event.number == last for event in self.read(tournament, max(0, last - _TAIL))):
            raise StorageError(f"{self.url} is damaged: {tournament!r} has no event {last}, which was the last one")
        return last

    def write_snapshot(self, tournament: str, snapshot: Snapshot) -> None:
        """Write a snapshot in a transaction of its own. The newest two stay: if one is damaged, there is another."""
        if self.snapshot_damage is not None:  # to delete a damaged snapshot could free pages of other tables
            raise StorageError(self.snapshot_damage)
        owner = self.owner(tournament)
        with self.transaction(snapshots=True):
            self.write(
                "INSERT INTO snapshots (tournament, number, state, bandit, sha256) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (tournament, number) DO UPDATE SET state = excluded.state, bandit = excluded.bandit, "
                "sha256 = excluded.sha256",
                [(owner, *snapshot, _digest(snapshot))],
            )
            self.write(
                "DELETE FROM snapshots WHERE tournament = ? AND number < "
                "(SELECT number FROM snapshots WHERE tournament = ? ORDER BY number DESC LIMIT 1 OFFSET 1)",
                [(owner, owner)],
            )

    def snapshots(self, tournament: str) -> Iterator[Snapshot]:
        """The snapshots that can be read and are undamaged, newest first."""
        owner = self.owner(tournament)
        numbers = "SELECT number FROM snapshots WHERE tournament = ? ORDER BY number DESC"
        for (number,) in self._snapshots(numbers, (owner,)):
            statement = "SELECT number, state, bandit, sha256 FROM snapshots WHERE tournament = ? AND number = ?"
            for at, state, bandit, sha256 in self._snapshots(statement, (owner, number)):
                if isinstance(state, str) and isinstance(bandit, bytes):  # a damaged row may have any types
                    snapshot = Snapshot(at, state, bandit)
                    if _digest(snapshot) == sha256:
                        yield snapshot

    def _snapshots(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read snapshots; where that fails there are none, since all they save is replay."""
        try:
            return self.select(statement, values, snapshots=True)
        except StorageError as error:
            _log.warning("a snapshot cannot be read, the journal is replayed instead: %s", error)
            return []

    def names(self) -> list[str]:
        """The tournaments, in alphabetical order."""
        return sorted(name for (name,) in self.select("SELECT name FROM tournaments"))

    def keys(self) -> list[KeyRow]:
        """The API keys."""
        return [KeyRow(*row) for row in self.select(f"SELECT {', '.join(KeyRow._fields)} FROM keys ORDER BY created")]

    def add_key(self, key: KeyRow) -> None:
        """Store a new API key."""
        with self.transaction():
            self.write("INSERT INTO keys (id, name, scopes, digest, created, revoked) VALUES (?, ?, ?, ?, ?, ?)", [key])

    def revoke_key(self, id: str, time: float) -> bool:
        """End an API key; False if there is no such key."""
        with self.transaction():
            return self.run_many("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", [(time, id)]) > 0


def _digest(snapshot: Snapshot) -> str:
    """Of a snapshot, to see whether it is damaged."""
    return hashlib.sha256(f"{snapshot.number}\n{snapshot.state}\n".encode() + snapshot.bandit).hexdigest()
