"""Storage in SQL tables, for both backends: commits and reads."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from time import time as now
from typing import Any

from rankduel.errors import StorageError, UnknownTournament
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.storage import shared_statements as sql
from rankduel.live.storage.contract import Batch, Committed, KeyRow, SignalRow, Snapshot
from rankduel.live.storage.schema import Database, text
from rankduel.live.storage.transaction import NON_DURABLE, TournamentTransaction

__all__ = ["SqlStorage"]

_MAX_DUELS_PER_READ = 10_000
_MAX_EVENTS_PER_READ = 10_000  # a long read would block checkpoints of SQLite's write-ahead log
_CHECKED_LAST_EVENTS = 1_000  # of a journal, read to check it when a tournament is opened
_MAX_NUMBER = 2**62  # larger than any event or session number
_log = logging.getLogger("rankduel")


class SqlStorage(Database):
    """A storage in SQL tables."""

    # Writing

    def commit(self, batch: Batch) -> Committed:
        """Write all entries or none. They are durable when this returns. Only one thread calls this."""
        committed = self._commit(batch, insert_first=self.shared)
        if committed is None:  # rare: a new duel, or a duel of its query, already exists
            committed = self._commit(batch, insert_first=True)
            assert committed is not None
        return committed

    def _commit(self, batch: Batch, *, insert_first: bool) -> Committed | None:
        unknown: dict[str, UnknownTournament] = {}
        committed = Committed({}, {}, {}, unknown)
        with self.transaction(durable=any(not set(map(type, entries)) <= NON_DURABLE for entries in batch.values())):
            for name in sorted(batch):  # the same order in all processes prevents deadlocks
                transaction = TournamentTransaction(self, name, batch[name], insert_first=insert_first)
                try:
                    if not transaction.write():
                        self.rollback()
                        return None
                except UnknownTournament as error:  # nothing of it was written; other tournaments are not affected
                    unknown[name] = error
                    continue
                committed.results[name] = transaction.results
                committed.events[name], committed.counts[name] = transaction.events, transaction.counts
        return committed

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Return the tournaments that no other process has locked now. Only one thread calls this."""
        return tournaments

    def check_writable(self) -> None:
        """Write a row durably. Raise StorageError if that fails."""
        with self.transaction():
            self.write(sql.CHECK_WRITABLE, (str(now()),))

    # Reading

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """Yield the events after number `since`, in order."""
        id = self.tournament_id(tournament)
        while rows := self.select(sql.EVENTS_AFTER, (id, since, _MAX_EVENTS_PER_READ)):
            for number, time, kind, body in rows:
                since += 1
                if number != since:
                    where = f"tournament {tournament!r} has no event {since}, but event {number}"
                    raise StorageError(f"{self.url} is damaged: {where}; restore a backup")
                try:
                    yield Event(number, time, kind, json.loads(body))
                except (ValueError, TypeError) as error:
                    where = f"event {number} of tournament {tournament!r}: {error}"
                    raise StorageError(f"{self.url} is damaged: {where}; restore a backup") from error

    def changes(self, tournament: str, limit: int, before: int | None = None) -> list[Event]:
        """Return the latest events other than outcomes, before event number `before` if given; newest first."""
        values = self.tournament_id(tournament), _MAX_NUMBER if before is None else before, limit
        rows = self.select(self.statements.changes_before, values)
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def changes_after(self, tournament: str, number: int, limit: int) -> list[Event]:
        """Return the events other than outcomes after an event number, oldest first."""
        rows = self.select(self.statements.changes_after, (self.tournament_id(tournament), number, limit))
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def event_time(self, tournament: str, number: int) -> float | None:
        """Return the time of an event; None if it does not exist."""
        rows = self.select(sql.EVENT_TIME, (self.tournament_id(tournament), number))
        return rows[0][0] if rows else None

    def resolved_since(self, tournament: str, time: float) -> int:
        """Return the number of outcomes in the journal since a time, by binary search: times never decrease."""
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
        """Return a duel by session and number; None if it does not exist."""
        rows = self.select(sql.DUEL, (self.tournament_id(tournament), session, number))
        return DuelRow(*rows[0]) if rows else None

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """Return the duels of queries that have one. Duels of the last 0.05 s may be missing."""
        id = self.tournament_id(tournament)
        if len(queries) == 1:
            rows = self.select_recent(sql.DUEL_OF_QUERY, (id, queries[0]))
        else:
            rows = self.select_recent(self.statements.duels_of_queries, (text(queries), id))
        return {row[2]: DuelRow(*row) for row in rows}

    def queries(self, tournament: str, after: str, limit: int) -> list[str]:
        """Return queries that have a duel, in alphabetical order, after the query `after`."""
        rows = self.select(sql.QUERIES_AFTER, (self.tournament_id(tournament), after, limit))
        return [query for (query,) in rows]

    def select_recent(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read for an ask. The data may be slightly older than with `select`."""
        return self.select(statement, values)

    def refresh_queries(self) -> None:
        """Let the next `duels_of` see everything that is durable now."""

    def run_maintenance(self) -> None:
        """Run maintenance of the storage. Called four times a second."""

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """Return the latest duels, before a session and number if given; newest first."""
        rows = self.select(sql.DUELS_BEFORE, (self.tournament_id(tournament), *(before or (_MAX_NUMBER, 0)), limit))
        return [DuelRow(*row) for row in rows]

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Return the duels in the state `shown` that were issued at or before a time, oldest first."""
        rows = self.select(sql.DUELS_TO_RESOLVE, (self.tournament_id(tournament), issued_until, limit))
        return [DuelRow(*row) for row in rows]

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether an `ExpireDue` would expire any duel."""
        return bool(self.select(sql.ANY_OVERDUE, (self.tournament_id(tournament), time)))

    def old_duels(self, tournament: str, issued_before: float, limit: int) -> list[tuple[int, int]]:
        """Return session and number of finished duels that still have personal data, oldest first."""
        rows = self.select(sql.OLD_DUELS, (self.tournament_id(tournament), issued_before, limit))
        return [(session, number) for session, number in rows]

    def count_old_duels(self, tournament: str, issued_before: float) -> int:
        """Return the number of duels that `old_duels` would return without a limit."""
        count: int = self.select(sql.COUNT_OLD_DUELS, (self.tournament_id(tournament), issued_before))[0][0]
        return count

    def pruned_with_query(
        self, tournament: str, issued_before: float, after: str, limit: int
    ) -> list[tuple[str, int, int]]:
        """Return query, session and number of pruned duels that have a query after `after`, in alphabetical order."""
        rows = self.select(sql.PRUNED_WITH_QUERY, (self.tournament_id(tournament), after, issued_before, limit))
        return [(query, session, number) for query, session, number in rows]

    def count_pruned_with_query(self, tournament: str, issued_before: float) -> int:
        """Return the number of pruned duels that have a query."""
        values = self.tournament_id(tournament), "", issued_before
        count: int = self.select(sql.COUNT_PRUNED_WITH_QUERY, values)[0][0]
        return count

    def duels_of_client(self, tournament: str, client: str, limit: int) -> list[tuple[int, int]]:
        """Return session and number of duels of a client, given by its hash."""
        rows = self.select(sql.DUELS_BY_CLIENT, (self.tournament_id(tournament), client, limit))
        return [(session, number) for session, number in rows]

    def clients_of_duels(self, tournament: str) -> Iterator[list[tuple[int, int, str | None]]]:
        """Yield first, second and hashed client of all resolved duels, many at a time. A client may be None."""
        id, after = self.tournament_id(tournament), (-1, 0)
        while rows := self.select(sql.CLIENTS_OF_DUELS, (id, *after, _MAX_DUELS_PER_READ)):
            yield [(first, second, client) for _, _, first, second, client in rows]
            after = rows[-1][0], rows[-1][1]

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """Return the signals of a duel, in order of time."""
        rows = self.select(sql.SIGNALS_OF_DUEL, (self.tournament_id(tournament), session, number))
        return [SignalRow(*row) for row in rows]

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """Return the number of duels issued to a client since a time."""
        count: int = self.select(sql.DUELS_OF_CLIENT, (self.tournament_id(tournament), client, since))[0][0]
        return count

    def counts(self, tournament: str) -> dict[str, int]:
        """Return all counters."""
        return dict(self.select(sql.COUNTERS, (self.tournament_id(tournament),)))

    def last(self, tournament: str) -> int:
        """Return the number of the last event. Raise StorageError if the journal does not end with it."""
        rows = self.select(sql.LAST_EVENT_BY_NAME, (tournament,))
        last: int = rows[0][0] if rows else 0
        if not any(event.number == last for event in self.read(tournament, max(0, last - _CHECKED_LAST_EVENTS))):
            where = f"tournament {tournament!r} has no event {last}, which was the last one"
            raise StorageError(f"{self.url} is damaged: {where}; restore a backup")
        return last

    def write_snapshot(self, tournament: str, snapshot: Snapshot) -> None:
        """Write a snapshot in a transaction of its own. The newest two are kept, in case one is damaged."""
        if self.snapshot_damage is not None:  # deleting a damaged snapshot could free pages of other tables
            raise StorageError(self.snapshot_damage)
        id = self.tournament_id(tournament)
        with self.transaction(snapshots=True):
            self.write(sql.SAVE_SNAPSHOT, (id, *snapshot, _digest(snapshot)))
            self.write(sql.DELETE_OLD_SNAPSHOTS, (id,))

    def snapshots(self, tournament: str) -> Iterator[Snapshot]:
        """Yield the undamaged snapshots, newest first."""
        id = self.tournament_id(tournament)
        for (number,) in self._snapshots(sql.SNAPSHOT_NUMBERS, (id,)):
            for at, state, bandit, sha256 in self._snapshots(sql.SNAPSHOT, (id, number)):
                if isinstance(state, str) and isinstance(bandit, bytes):  # a damaged row may have any types
                    snapshot = Snapshot(at, state, bandit)
                    if _digest(snapshot) == sha256:
                        yield snapshot

    def _snapshots(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read snapshots. If that fails, return none: snapshots only shorten replay."""
        try:
            return self.select(statement, values, snapshots=True)
        except StorageError as error:
            _log.warning("cannot read a snapshot, the journal is replayed instead: %s", error)
            return []

    def names(self) -> list[str]:
        """Return the names of all tournaments, in alphabetical order."""
        return sorted(name for (name,) in self.select(sql.TOURNAMENT_NAMES) if name.isprintable())

    def deleted_names(self) -> list[str]:
        """Return the names under which deleted tournaments wait until their rows are removed."""
        return [name for (name,) in self.select(sql.TOURNAMENT_NAMES) if not name.isprintable()]

    def fact(self, name: str) -> str | None:
        """Return a stored fact by its name; None if it does not exist."""
        rows = self.select(sql.FACT, (name,))
        return rows[0][0] if rows else None

    def write_fact(self, name: str, value: str) -> None:
        """Write a fact in a transaction of its own."""
        with self.transaction():
            self.write(sql.WRITE_FACT, (name, value))

    def keys(self) -> list[KeyRow]:
        """Return all API keys, revoked ones included."""
        return [KeyRow(*row) for row in self.select(sql.KEYS)]

    def add_key(self, key: KeyRow) -> None:
        """Store a new API key."""
        with self.transaction():
            self.write(sql.ADD_KEY, key)

    def revoke_key(self, id: str, time: float) -> bool:
        """Revoke an API key. Return False if there is no such active key."""
        with self.transaction():
            return self.count_written(sql.REVOKE_KEY, (time, id)) > 0


def _digest(snapshot: Snapshot) -> str:
    """Return the SHA-256 of a snapshot, to detect damage."""
    return hashlib.sha256(f"{snapshot.number}\n{snapshot.state}\n".encode() + snapshot.bandit).hexdigest()
