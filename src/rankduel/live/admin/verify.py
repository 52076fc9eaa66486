"""Verify a storage: pages, journals and snapshots, and whether duels and counters agree with the journal."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.admin.findings import Finding, restore_backup
from rankduel.live.admin.sqlite_files import is_postgres, sqlite_file
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import storage_at
from rankduel.live.storage.sql import SqlStorage
from rankduel.live.storage.sqlite import SqliteStorage

__all__ = ["verify"]

_DUELS_PER_READ = 5_000


def verify(url: str) -> Iterator[Finding]:
    """Check everything in a storage: pages, journals, snapshots, duels and counters. The storage may be in use.

    Damage is reported as a finding, never as an exception.
    """
    if not is_postgres(url):
        sqlite_file(url)
    try:
        storage = storage_at(url, own=False)
    except StorageError as error:
        if is_postgres(url):
            raise
        yield Finding("error", "storage", str(error))
        return
    assert isinstance(storage, SqlStorage)
    with closing(storage):
        if isinstance(storage, SqliteStorage):
            yield _pages(storage)
        else:
            storage.select("SELECT set_config('statement_timeout', '0', false)")  # large reads
        try:
            names = storage.names()
        except (StorageError, TypeError) as error:
            yield Finding("error", "tournaments", restore_backup(error))
            return
        if not names:
            yield Finding("ok", "tournaments", "none yet")
        for name in names:
            try:
                yield from _Check(storage, name).findings()
            except (StorageError, ValueError, TypeError, LookupError) as error:  # a damaged row may have any values
                yield Finding("error", f"tournament {name!r}", restore_backup(error))


def _pages(storage: SqliteStorage) -> Finding:
    try:
        wrong = [str(row[0]) for row in storage.select("PRAGMA integrity_check(5)") if row[0] != "ok"]
    except StorageError as error:
        wrong = [str(error)]
    if wrong:
        return Finding("error", "file", restore_backup(f"damaged: {'; '.join(wrong)}"))
    return Finding("ok", "file", "all pages are undamaged")


class _Check:
    """Check one tournament. The journal is read once, from the first event to the last."""

    def __init__(self, storage: SqlStorage, name: str) -> None:
        self.storage = storage
        self.name = name
        ((self.id, self.acknowledged),) = storage.select("SELECT id, number FROM tournaments WHERE name = $1", (name,))
        self.wrong_duels: list[str] = []
        self.snapshot: Finding | None = None

    def findings(self) -> Iterator[Finding]:
        try:
            state = self._replay()
        except StorageError as error:
            yield self._finding("error", restore_backup(error))
            return
        yield self._finding("ok", f"replayed {state.number} events without a gap")
        if state.number < self.acknowledged:
            missing = f"{self.acknowledged} events were acknowledged, but the journal has only {state.number}"
            yield self._finding("error", restore_backup(missing))
        yield self.snapshot or self._finding("ok", "no snapshot yet")
        yield from self._damaged_snapshots()
        yield from self._duels()

    def _finding(self, level: str, message: str) -> Finding:
        return Finding(level, f"tournament {self.name!r}", message)

    def _replay(self) -> State:
        snapshot = next(iter(self.storage.snapshots(self.name)), None)
        events = self.storage.read(self.name)
        created = next(events, None)
        if created is None:
            raise StorageError("the journal is empty")
        resolved: list[Event] = []
        try:
            state = State.replay([created])
            for event in events:
                if event.time < state.time:
                    raise StorageError(f"event {event.number} has an earlier time than the event before it")
                state.apply(event)
                if snapshot is not None and event.number == snapshot.number:
                    same = _learnt(State.from_snapshot(snapshot)) == _learnt(state)
                    subject = f"the snapshot at event {snapshot.number}"
                    self.snapshot = (
                        self._finding("ok", f"{subject} matches the replayed state")
                        if same
                        else self._finding("error", f"{subject} differs from the replayed state")
                    )
                if event.kind == "resolved":
                    resolved.append(event)
                if len(resolved) >= _DUELS_PER_READ:
                    self._compare(resolved)
                    resolved.clear()
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"an event cannot be replayed: {error!r}") from error
        self._compare(resolved)
        if snapshot is not None and snapshot.number > state.number:
            self.snapshot = self._finding("error", f"the snapshot is of event {snapshot.number}, which does not exist")
        return state

    def _compare(self, resolved: list[Event]) -> None:
        """Note the duels whose row does not have the outcome of the journal."""
        sessions: dict[int, dict[int, Event]] = {}
        for event in resolved:
            session, _, number = event.body["duel"].partition("-")
            sessions.setdefault(int(session), {})[int(number)] = event
        for session, events in sessions.items():
            rows = self.storage.select(
                self.storage.statements.duels_by_number, (json.dumps(list(events)), self.id, session)
            )
            stored = {row.number: row for row in map(DuelRow._make, rows)}
            for number, event in events.items():
                body, row = event.body, stored.get(number)
                learnt = (body["first"], body["second"], "resolved", body["outcome"])
                if row is None or (row.first, row.second, row.state, row.outcome) != learnt:
                    self.wrong_duels.append(body["duel"])

    def _damaged_snapshots(self) -> Iterator[Finding]:
        if self.storage.snapshot_damage is not None:
            yield self._finding("error", restore_backup(self.storage.snapshot_damage))
            return
        stored = self._snapshots()
        damaged = stored - {snapshot.number for snapshot in self.storage.snapshots(self.name)}
        damaged &= self._snapshots()  # a snapshot that was deleted meanwhile is not damaged
        if damaged:
            message = f"{len(damaged)} of {len(stored)} snapshots are damaged: the next start takes longer"
            yield self._finding("warning", message)

    def _snapshots(self) -> set[int]:
        rows = self.storage.select("SELECT number FROM snapshots WHERE tournament = $1", (self.id,), snapshots=True)
        return {number for (number,) in rows}

    def _duels(self) -> Iterator[Finding]:
        """Compare the numbers of duels in the table of duels, the journal and the counters, read by one statement."""
        counted: dict[tuple[str, str], int] = {}
        for table, name, number in self.storage.select(
            "SELECT 'duels', state, count(*) FROM duels WHERE tournament = $1 GROUP BY state "
            "UNION ALL SELECT 'journal', kind, count(*) FROM journal WHERE tournament = $1 GROUP BY kind "
            "UNION ALL SELECT 'counters', name, value FROM counters WHERE tournament = $1",
            (self.id,),
        ):
            counted[table, name] = int(number)

        def count(table: str, *names: str) -> int:
            return sum(counted.get((table, name), 0) for name in names)

        total = sum(number for (table, _), number in counted.items() if table == "duels")
        wrong = [f"duel {duel} differs from the journal" for duel in self.wrong_duels[:5]]
        for state, source, in_table, in_source in (
            ("resolved", "journal", count("duels", "resolved"), count("journal", "resolved")),
            ("issued", "counters", total, count("counters", "issued")),
            ("resolved", "counters", count("duels", "resolved"), count("counters", "resolved")),
            ("no_signal", "counters", count("duels", "no_signal"), count("counters", "no_signal")),
            ("expired", "counters", count("duels", "expired", "late"), count("counters", "expired")),
            ("void", "counters", count("duels", "void"), count("counters", "void")),
            ("failed", "counters", count("duels", "failed"), count("counters", "failed")),
        ):
            if in_table != in_source:
                wrong.append(f"{state}: {in_table} duels in the table, {in_source} in the {source}")
        for message in wrong:
            yield self._finding("error", message)
        if not wrong:
            yield self._finding("ok", f"{total} duels agree with the journal and the counters")


def _learnt(state: State) -> dict[str, Any]:
    """Return everything that events determine, without caches of the bandit and the position of its random stream.

    The list of decisions is left out: snapshots of older versions do not have it.
    """
    bandit = state.bandit
    snapshot: dict[str, Any] = json.loads(state.to_snapshot().state)
    del snapshot["retired_at"]  # snapshots of older versions know it only roughly
    del snapshot["decisions"]
    return snapshot | {"told": bandit.told, "champion": bandit.champion, "decision": repr(bandit.decision())}
