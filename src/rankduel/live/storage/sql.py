"""A storage in SQL tables, whichever the backend: commits of batches, and all reads."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.storage import shared_statements as sql
from rankduel.live.storage.contract import Batch, Committed, KeyRow, SignalRow, Snapshot
from rankduel.live.storage.schema import Database, text
from rankduel.live.storage.transaction import NON_DURABLE, TournamentTransaction

__all__ = ["SqlStorage"]

_MAX_EVENTS_PER_READ = 10_000  # a long read would keep SQLite's log from being written into the file
_CHECKED_LAST_EVENTS = 1_000  # at the end of a journal, read when a tournament is opened
_MAX_NUMBER = 2**62  # larger than any number of an event or a session
_log = logging.getLogger("rankduel")


class SqlStorage(Database):
    """A storage in tables."""

    # Writing

    def commit(self, batch: Batch) -> Committed:
        """Write all entries of these tournaments or none; on return they are durable. One thread calls this."""
        committed = self._commit(batch, insert_first=self.shared)
        if committed is None:  # seldom: a duel that was asked for is there already
            committed = self._commit(batch, insert_first=True)
            assert committed is not None
        return committed

    def _commit(self, batch: Batch, *, insert_first: bool) -> Committed | None:
        committed = Committed({}, {}, {})
        with self.transaction(durable=any(not set(map(type, entries)) <= NON_DURABLE for entries in batch.values())):
            for name in sorted(batch):  # always in this order: no two processes wait for each other
                transaction = TournamentTransaction(self, name, batch[name], insert_first=insert_first)
                if not transaction.write():
                    self.rollback()
                    return None
                committed.results[name] = transaction.results
                committed.events[name], committed.counts[name] = transaction.events, transaction.counts
        return committed

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Those of these tournaments that no other process has locked at this moment. One thread calls this."""
        return tournaments

    # Reading

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""
        id = self.tournament_id(tournament)
        while rows := self.select(sql.EVENTS_AFTER, (id, since, _MAX_EVENTS_PER_READ)):
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
        values = self.tournament_id(tournament), _MAX_NUMBER if before is None else before, limit
        rows = self.select(self.statements.changes_before, values)
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def resolved_since(self, tournament: str, time: float) -> int:
        """How many outcomes the journal has from a time on. Times never go back: what was before is soon found."""
        id = self.tournament_id(tournament)
        last: int = self.select(sql.LAST_EVENT, (id,))[0][0]
        low, high = 0, last
        while low < high:
            middle = (low + high + 1) // 2
            ((at,),) = self.select(sql.EVENT_TIME, (id, middle))
            low, high = (middle, high) if at < time else (low, middle - 1)
        others: int = self.select(self.statements.count_changes, (id, low, last))[0][0]
        return last - low - others

    def duel(self, tournament: str, session: int, number: int) -> DuelRow | None:
        """The duel of that number."""
        rows = self.select(sql.DUEL, (self.tournament_id(tournament), session, number))
        return DuelRow(*rows[0]) if rows else None

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, for those that have one; perhaps not of those written in the last moment."""
        id = self.tournament_id(tournament)
        if len(queries) == 1:
            rows = self.select_recent(sql.DUEL_OF_QUERY, (id, queries[0]))
        else:
            rows = self.select_recent(self.statements.duels_of_queries, (text(queries), id))
        return {row[2]: DuelRow(*row) for row in rows}

    def queries(self, tournament: str, after: str, limit: int) -> list[str]:
        """The queries that have a duel, in alphabetical order, after one of them or from "" on."""
        rows = self.select(sql.QUERIES_AFTER, (self.tournament_id(tournament), after, limit))
        return [query for (query,) in rows]

    def select_recent(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read for an ask: what was durable a moment ago."""
        return self.select(statement, values)

    def refresh_queries(self) -> None:
        """Let `duels_of` see everything that is durable now."""

    def run_maintenance(self) -> None:
        """Do what a storage needs now and then. Called four times a second."""

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """The latest duels, or the latest ones before a session and number; newest first."""
        rows = self.select(sql.DUELS_BEFORE, (self.tournament_id(tournament), *(before or (_MAX_NUMBER, 0)), limit))
        return [DuelRow(*row) for row in rows]

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Duels that were shown, not told, and issued at that time or before."""
        rows = self.select(sql.DUELS_TO_RESOLVE, (self.tournament_id(tournament), issued_until, limit))
        return [DuelRow(*row) for row in rows]

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether an `ExpireDue` would find something."""
        return bool(self.select(sql.ANY_OVERDUE, (self.tournament_id(tournament), time)))

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """What users did on the page of a duel, in the order of time."""
        rows = self.select(sql.SIGNALS_OF_DUEL, (self.tournament_id(tournament), session, number))
        return [SignalRow(*row) for row in rows]

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """How many duels a client was issued since a time."""
        count: int = self.select(sql.DUELS_OF_CLIENT, (self.tournament_id(tournament), client, since))[0][0]
        return count

    def counts(self, tournament: str) -> dict[str, int]:
        """The counters."""
        return dict(self.select(sql.COUNTERS, (self.tournament_id(tournament),)))

    def last(self, tournament: str) -> int:
        """The number of the last event. Raises StorageError if the journal does not end with that event."""
        rows = self.select(sql.LAST_EVENT_BY_NAME, (tournament,))
        last: int = rows[0][0] if rows else 0
        if not any(event.number == last for event in self.read(tournament, max(0, last - _CHECKED_LAST_EVENTS))):
            raise StorageError(f"{self.url} is damaged: {tournament!r} has no event {last}, which was the last one")
        return last

    def write_snapshot(self, tournament: str, snapshot: Snapshot) -> None:
        """Write a snapshot in a transaction of its own. The newest two stay: if one is damaged, there is another."""
        if self.snapshot_damage is not None:  # to delete a damaged snapshot could free pages of other tables
            raise StorageError(self.snapshot_damage)
        id = self.tournament_id(tournament)
        with self.transaction(snapshots=True):
            self.write(sql.SAVE_SNAPSHOT, (id, *snapshot, _digest(snapshot)))
            self.write(sql.DELETE_OLD_SNAPSHOTS, (id,))

    def snapshots(self, tournament: str) -> Iterator[Snapshot]:
        """The snapshots that can be read and are undamaged, newest first."""
        id = self.tournament_id(tournament)
        for (number,) in self._snapshots(sql.SNAPSHOT_NUMBERS, (id,)):
            for at, state, bandit, sha256 in self._snapshots(sql.SNAPSHOT, (id, number)):
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
        return sorted(name for (name,) in self.select(sql.TOURNAMENT_NAMES))

    def keys(self) -> list[KeyRow]:
        """The API keys."""
        return [KeyRow(*row) for row in self.select(sql.KEYS)]

    def add_key(self, key: KeyRow) -> None:
        """Store a new API key."""
        with self.transaction():
            self.write(sql.ADD_KEY, key)

    def revoke_key(self, id: str, time: float) -> bool:
        """End an API key; False if there is no such key."""
        with self.transaction():
            return self.count_written(sql.REVOKE_KEY, (time, id)) > 0


def _digest(snapshot: Snapshot) -> str:
    """Of a snapshot, to see whether it is damaged."""
    return hashlib.sha256(f"{snapshot.number}\n{snapshot.state}\n".encode() + snapshot.bandit).hexdigest()
