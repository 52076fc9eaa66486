"""Verification of a storage: pages, journals, snapshots, and whether duels and counters agree with the journal."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.admin.findings import Finding
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
    """Look at everything in a storage, which may be in use: pages, journals, snapshots, and the duels beside them.

    Damage is a finding and never an exception.
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
            storage.select("SELECT set_config('statement_timeout', '0', false)")  # much is read at once
        try:
            names = storage.names()
        except (StorageError, TypeError) as error:
            yield Finding("error", "tournaments", f"{error}. Go back to a backup")
            return
        if not names:
            yield Finding("ok", "tournaments", "there are none")
        for name in names:
            try:
                yield from _Check(storage, name).findings()
            except (StorageError, ValueError, TypeError, LookupError) as error:  # a damaged row may have any values
                yield Finding("error", f"tournament {name!r}", f"{error}. Go back to a backup")


def _pages(storage: SqliteStorage) -> Finding:
    try:
        wrong = [str(row[0]) for row in storage.select("PRAGMA integrity_check(5)") if row[0] != "ok"]
    except StorageError as error:
        wrong = [str(error)]
    if wrong:
        return Finding("error", "file", f"it is damaged: {'; '.join(wrong)}. Go back to a backup")
    return Finding("ok", "file", "all pages are sound")


class _Check:
    """One tournament, its journal read once from the first event to the last."""

    def __init__(self, storage: SqlStorage, name: str) -> None:
        self.storage = storage
        self.name = name
        ((self.id, self.promised),) = storage.select("SELECT id, number FROM tournaments WHERE name = $1", (name,))
        self.wrong_duels: list[str] = []
        self.snapshot: Finding | None = None

    def findings(self) -> Iterator[Finding]:
        try:
            state = self._replay()
        except StorageError as error:
            yield self._finding("error", f"{error}. Go back to a backup")
            return
        yield self._finding("ok", f"{state.number} events without a gap, replayed")
        if state.number < self.promised:
            yield self._finding("error", f"{self.promised} events were acknowledged, {state.number} are there")
        yield self.snapshot or self._finding("ok", "no snapshot yet")
        yield from self._damaged_snapshots()
        yield from self._duels()

    def _finding(self, level: str, told: str) -> Finding:
        return Finding(level, f"tournament {self.name!r}", told)

    def _replay(self) -> State:
        snapshot = next(iter(self.storage.snapshots(self.name)), None)
        events = self.storage.read(self.name)
        created = next(events, None)
        if created is None:
            raise StorageError("its journal is empty")
        told: list[Event] = []
        try:
            state = State.replay([created])
            for event in events:
                if event.time < state.time:
                    raise StorageError(f"event {event.number} is older than the one before it")
                state.apply(event)
                if snapshot is not None and event.number == snapshot.number:
                    same = _learnt(State.from_snapshot(snapshot)) == _learnt(state)
                    what = f"the snapshot at event {snapshot.number}"
                    self.snapshot = (
                        self._finding("ok", f"{what} is what replay gives")
                        if same
                        else self._finding("error", f"{what} differs from replay")
                    )
                if event.kind == "resolved":
                    told.append(event)
                if len(told) >= _DUELS_PER_READ:
                    self._compare(told)
                    told.clear()
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"an event cannot be replayed: {error!r}") from error
        self._compare(told)
        if snapshot is not None and snapshot.number > state.number:
            self.snapshot = self._finding("error", f"a snapshot at event {snapshot.number}, and no such event")
        return state

    def _compare(self, told: list[Event]) -> None:
        """Each outcome that was learnt is that of its duel."""
        sessions: dict[int, dict[int, Event]] = {}
        for event in told:
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
            yield self._finding("error", f"{self.storage.snapshot_damage}. Go back to a backup")
            return
        there = self._snapshots()
        damaged = there - {snapshot.number for snapshot in self.storage.snapshots(self.name)}
        damaged &= self._snapshots()  # one that has made way for a newer one meanwhile is not damaged
        if damaged:
            told = f"{len(damaged)} of {len(there)} snapshots are damaged: the next start takes longer"
            yield self._finding("warning", told)

    def _snapshots(self) -> set[int]:
        rows = self.storage.select("SELECT number FROM snapshots WHERE tournament = $1", (self.id,), snapshots=True)
        return {number for (number,) in rows}

    def _duels(self) -> Iterator[Finding]:
        """The table of duels is the index of the journal: what both count must be the same, in one look at both."""
        counted: dict[tuple[str, str], int] = {}
        for place, what, many in self.storage.select(
            "SELECT 'duels', state, count(*) FROM duels WHERE tournament = $1 GROUP BY state "
            "UNION ALL SELECT 'journal', kind, count(*) FROM journal WHERE tournament = $1 GROUP BY kind "
            "UNION ALL SELECT 'counters', name, value FROM counters WHERE tournament = $1",
            (self.id,),
        ):
            counted[place, what] = int(many)

        def count(place: str, *words: str) -> int:
            return sum(counted.get((place, word), 0) for word in words)

        total = sum(number for (place, _), number in counted.items() if place == "duels")
        wrong = [f"duel {duel} is not as the journal has it" for duel in self.wrong_duels[:5]]
        for what, table, other in (
            ("resolved, in the journal", count("duels", "resolved"), count("journal", "resolved")),
            ("issued, by the counters", total, count("counters", "issued")),
            ("resolved, by the counters", count("duels", "resolved"), count("counters", "resolved")),
            ("without a signal, by the counters", count("duels", "no_signal"), count("counters", "no_signal")),
            ("expired, by the counters", count("duels", "expired", "late"), count("counters", "expired")),
            ("void, by the counters", count("duels", "void"), count("counters", "void")),
            ("failed, by the counters", count("duels", "failed"), count("counters", "failed")),
        ):
            if table != other:
                wrong.append(f"{table} duels {what} {other}")
        for told in wrong:
            yield self._finding("error", told)
        if not wrong:
            yield self._finding("ok", f"{total} duels, as the journal and the counters have them")


def _learnt(state: State) -> dict[str, Any]:
    """All that events decide. Caches of the bandit, and where its random stream stands, are no part of it."""
    bandit = state.bandit
    snapshot: dict[str, Any] = json.loads(state.to_snapshot().state)
    return snapshot | {"told": bandit.told, "champion": bandit.champion, "decision": repr(bandit.decision())}
