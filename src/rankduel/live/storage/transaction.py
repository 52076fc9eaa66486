"""Apply the entries of one tournament to duels, journal and counters, in a transaction."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rankduel.errors import UnknownTournament
from rankduel.live.rules.duels import OPEN, DuelRow, Status, apply_outcome
from rankduel.live.rules.events import Event
from rankduel.live.settings import check_new
from rankduel.live.storage import shared_statements as sql
from rankduel.live.storage.contract import (
    REFERS_TO_DUEL,
    Change,
    CounterDelta,
    Created,
    Delete,
    DeleteRows,
    Entry,
    ExpireDue,
    Fail,
    Opened,
    Remove,
    Show,
    SignalRow,
    Tell,
    TellResult,
    Void,
    tell_result,
)
from rankduel.live.storage.removal import delete_rows, remove
from rankduel.live.storage.schema import Database, by_session, event_text, text

__all__ = ["NON_DURABLE", "MAX_SIGNALS_PER_DUEL", "TournamentTransaction"]

MAX_SIGNALS_PER_DUEL = 200

NON_DURABLE = frozenset({DuelRow, CounterDelta})  # entries that may be lost in a crash
_VOUCHED = (Tell, Show)  # entries that may carry the duel they name, proved by a ticket

Key = tuple[int, int]  # session and number of a duel


class TournamentTransaction:
    """The entries of one tournament in a transaction.

    New duels are inserted at the end: most are told in the same transaction, and so are written only once. If a new
    duel already exists by then, or its query has another duel, the transaction is rolled back and repeated with
    `insert_first`. Then duels are inserted at the beginning, and a query that already has a duel keeps it.
    """

    def __init__(self, storage: Database, name: str, entries: Sequence[Entry], *, insert_first: bool) -> None:
        self.storage = storage
        self.insert_first = insert_first
        self.name = name
        self.number, self.time = 0, 0.0  # of the last event, once the tournament is locked
        self.entries = entries
        self.results: list[Any] = [None] * len(entries)
        self.events: list[Event] = []
        self.counts: Counter[str] = Counter()
        self.duels: dict[Key, DuelRow] = {}  # the duels that entries name, in their current state
        self.issued: dict[Key, None] = {}  # new ones among them that are not inserted yet, in order
        self.changed: dict[Key, None] = {}  # stored ones among them that have changed
        self.signals: dict[int, SignalRow] = {}  # by the index of the entry
        self.conflict = False  # whether a new duel already exists
        # The number of told duels, by state before and after, outcome, and delay.
        self.settled: Counter[tuple[str, str, str | None, int]] = Counter()

    def write(self) -> bool:
        """Apply all entries in order and write all changes. Return False if it must be repeated with `insert_first`."""
        self.id = self.storage.tournament_id(self.name)
        kinds = set(map(type, self.entries))
        if self.id < 0 or not kinds <= NON_DURABLE:
            self._lock()
        before = self.number
        self._issue()
        self._find()
        handlers = {kind: getattr(self, _HANDLERS[kind]) for kind in kinds if kind in _HANDLERS}
        for index, entry in enumerate(self.entries):
            if isinstance(entry, SignalRow):
                self._signal(index, entry)
            elif not isinstance(entry, DuelRow):
                self.results[index] = handlers[type(entry)](entry)
        self._save_signals()
        self._save_duels()
        self._count_settled()
        self._save(before)
        return not self.conflict

    def _lock(self) -> None:
        """Lock the tournament until the end of the transaction, and read the number and time of its last event."""
        storage, known = self.storage, self.id
        rows = storage.fetch(storage.statements.lock_tournament, (self.name,))
        if isinstance(self.entries[0], Created):
            storage.forget(self.name)  # another process may have deleted a tournament with this name
            if not rows:
                storage.write(sql.CREATE_TOURNAMENT, (self.name,))
                rows = storage.fetch(storage.statements.lock_tournament, (self.name,))
        elif not rows or known not in (-1, rows[0][0]):  # deleted, or deleted and created again
            raise UnknownTournament(f"unknown tournament {self.name!r}; it was deleted")
        self.id, self.number, self.time = rows[0]

    def _issue(self) -> None:
        """Take the new duels among the entries, and insert them now if `insert_first`."""
        rows = [entry for entry in self.entries if isinstance(entry, DuelRow)]
        by_query: dict[str, DuelRow] = {}  # duels that exist already
        if not self.insert_first:
            self.duels = {row[:2]: row for row in rows}
            self.conflict = len(self.duels) < len(rows)
            self.issued = dict.fromkeys(self.duels)
        elif rows:
            rows.sort(key=lambda row: row.query or "")  # the same order in all processes prevents deadlocks
            if self._insert(rows) < len(rows):
                queries = [row.query for row in rows if row.query is not None]
                values = text(queries), self.id
                for stored in self.storage.fetch(self.storage.statements.duels_of_queries, values):
                    by_query[stored[2]] = DuelRow(*stored)
        for index, entry in enumerate(self.entries):
            if isinstance(entry, DuelRow):
                self.results[index] = by_query.get(entry.query or "", entry)

    def _insert(self, rows: Sequence[DuelRow]) -> int:
        """Insert duels, except those whose id or query already has one. Return the number of inserted duels."""
        new = self.storage.count_written_rows(sql.INSERT_DUELS, [(self.id, *row) for row in rows])
        self.counts["issued"] += new
        return new

    def _find(self) -> None:
        """Load the duels that entries name. Duels that exist only in a ticket are inserted now."""
        named = [entry for entry in self.entries if isinstance(entry, REFERS_TO_DUEL)]
        unknown = [entry for entry in named if entry[:2] not in self.duels]
        self._load_duels({entry[:2] for entry in unknown})
        for entry in unknown:
            key = entry[:2]
            if key in self.duels or not isinstance(entry, _VOUCHED) or (row := entry.row) is None:
                continue
            if self._has_rankers(row):  # a ticket may be newer than a restored backup
                self.counts["recovered asks"] += 1
                if not self._insert([row]) and row.query is not None:  # the query has another duel
                    row = row._replace(query=None)
                    self._insert([row])
                self.duels[key] = row

    def _load_duels(self, keys: Iterable[Key]) -> None:
        if given := by_session(self.id, keys):
            for stored in self.storage.fetch_each(self.storage.statements.duels_by_number, given):
                if self._has_rankers(row := DuelRow(*stored)):
                    self.duels[row[:2]] = row

    def _has_rankers(self, row: DuelRow) -> bool:
        """Whether the tournament had both rankers when the duel was issued.

        An event with unknown rankers could not be replayed. After a backup was restored, the arm in a ticket may belong
        to another ranker, which was added after the duel was issued.
        """
        known = self.storage.ranker_times
        if max(row.first, row.second) >= len(known.get(self.name, ())):  # the cache may lack the newest rankers
            known[self.name] = list(self._rankers().values())
        times = known[self.name]
        return max(row.first, row.second) < len(times) and max(times[row.first], times[row.second]) <= row.issued

    def _rankers(self) -> dict[str, float]:
        """Return all rankers of the journal in the order of their arms, with the time when each was added."""
        rankers: dict[str, float] = {}
        for time, body in self.storage.fetch(self.storage.statements.rankers_added, (self.id,)):
            for ranker in json.loads(body)["rankers"]:
                rankers.setdefault(ranker, time)
        return rankers

    def _tell(self, entry: Tell) -> TellResult:
        session, number, _, outcome, time, page = entry
        key = session, number
        row = self._duel_of(entry)
        status, after = apply_outcome(row, outcome, max(time, self.time), page)
        if after is None or row is None:
            self.counts[status] += status is not Status.LATE
            return tell_result(status, None if row is None else row.outcome)
        self._becomes(key, after)
        self.settled[row.state, after.state, outcome, _delay(time - row.issued)] += 1
        if after.state == "resolved":
            body = {"duel": f"{session}-{number}", "first": row.first, "second": row.second, "outcome": outcome}
            if row.first_propensity is not None:
                body["propensity"] = [row.first_propensity, row.second_propensity]
            self._happens(time, "resolved", body)
        return tell_result(status, outcome)

    def _duel_of(self, entry: Tell | Show) -> DuelRow | None:
        """Return the duel that an entry names; None if its ticket is of another duel with the same id.

        Two duels have the same id if a backup was restored twice.
        """
        row, vouched = self.duels.get(entry[:2]), entry.row
        if row is None or vouched is None or row is vouched:
            return row
        same = row.issued == vouched.issued and row.first == vouched.first and row.second == vouched.second
        return row if same else None

    def _becomes(self, key: Key, row: DuelRow) -> None:
        """Note the new state of a duel."""
        self.duels[key] = row
        if key not in self.issued:
            self.changed[key] = None

    def _count_settled(self) -> None:
        for (before, after, outcome, delay), duels in self.settled.items():
            self.counts[after] += duels
            self.counts["pages"] += duels * (before == "issued")
            self.counts[f"delay {delay}"] += duels
            if after == "resolved":
                self.counts[f"outcome {outcome}"] += duels
            elif after == "late":
                self.counts["expired"] += duels * (before in OPEN)

    def _show(self, entry: Show) -> Status:
        key, row = entry[:2], self._duel_of(entry)
        if row is None:
            return Status.UNKNOWN
        if row.state != "issued":
            same = not row.page or row.page.startswith(entry.page[:-1])  # a stored page may have clicks at its end
            return Status.DUPLICATE if same else Status.CONFLICT
        if max(entry.time, self.time) >= row.expires:
            return Status.LATE
        self._becomes(key, row._replace(state="shown", page=entry.page))
        self.counts["shown"] += 1
        self.counts["pages"] += 1
        return Status.ACCEPTED

    def _void(self, entry: Void) -> str | None:
        key = entry[:2]
        row = self.duels.get(key)
        if row is None:
            return None
        if row.state in OPEN:
            self._becomes(key, row._replace(state="void"))
            self.counts["void"] += 1
            self._happens(entry.time, "voided", entry.body)
        return row.state

    def _fail(self, entry: Fail) -> str | None:
        key = entry[:2]
        row = self.duels.get(key)
        if row is None:
            return None
        if row.state in OPEN:
            self._becomes(key, row._replace(state="failed", page=entry.page))
            self.counts["failed"] += 1
        return row.state

    def _remove(self, entry: Remove) -> int:
        self._save_signals()
        self._save_duels()
        rows, voided = remove(self.storage, self.id, entry)
        self.duels.update({row[:2]: row for row in rows if row[:2] in self.duels})
        self.counts["void"] += voided
        if rows and entry.erasure is not None:
            self._happens(entry.time, "erased", entry.erasure | {"duels": len(rows)})
        return len(rows)

    def _create(self, entry: Created) -> Event | None:
        return None if self.number else self._happens(entry.time, "created", entry.settings)

    def _open(self, entry: Opened) -> int:
        session: int = self.storage.fetch(sql.NEXT_SESSION, (self.id,))[0][0]
        return session

    def _change(self, entry: Change) -> Event | ValueError:
        if entry.kind == "added" and (refusal := self._too_many_rankers(entry)) is not None:
            return refusal
        return self._happens(entry.time, entry.kind, entry.body)

    def _too_many_rankers(self, entry: Change) -> ValueError | None:
        """Return why rankers cannot be added, or None. The tournament is locked, so no other process adds any."""
        rankers = {*self._rankers(), *(name for event in self.events for name in event.body.get("rankers", ()))}
        try:
            check_new([name for name in entry.body["rankers"] if name not in rankers], rankers)
        except ValueError as error:
            return error
        return None

    def _delete(self, entry: Delete) -> None:
        self._save_signals()
        self._save_duels()
        self.storage.write(sql.RENAME_DELETED, (f"deleted\n{self.id}", self.id))
        self.storage.forget(self.name)

    def _delete_rows(self, entry: DeleteRows) -> int:
        return delete_rows(self.storage, self.name, self.id)

    def _count(self, entry: CounterDelta) -> None:
        self.counts.update(entry.counts)

    def _signal(self, index: int, signal: SignalRow) -> None:
        row = self.duels.get((signal.session, signal.number))
        if row is not None and row.state in OPEN:
            self.signals[index] = signal
        else:
            self.counts["late signals"] += row is not None
            self.counts["orphan signals"] += row is None
            self.results[index] = Status.UNKNOWN if row is None else Status.LATE

    def _expire_due(self, entry: ExpireDue) -> int:
        self._save_duels()  # duels that were told in this transaction must not expire
        time = max(entry.time, self.time)
        expired = self.storage.count_written(sql.EXPIRE_DUELS, (self.id, time))
        self.counts["expired"] += expired
        for key, row in self.duels.items():
            if row.state in OPEN and row.expires <= time:
                self.duels[key] = row._replace(state="expired")
        return expired

    def _happens(self, time: float, kind: str, body: dict[str, Any]) -> Event:
        self.number += 1
        self.time = max(time, self.time)
        event = Event(self.number, self.time, kind, body)
        self.events.append(event)
        return event

    def _save_signals(self) -> None:
        """Store the new signals of each duel, up to the limit. The tournament is locked, so no other process adds any.

        Guardrails use the counters "pages with ...", which count an action once per page. Undeclared actions share one
        counter, which no guardrail can use.
        """
        if not self.signals:
            return
        signals, self.signals = self.signals, {}
        actions = self._stored_actions({signal[:2] for signal in signals.values()})
        new: list[SignalRow] = []
        for index, signal in signals.items():
            seen = actions[signal[:2]]
            if signal.key in seen:
                self.counts["duplicate signals"] += 1
                self.results[index] = Status.DUPLICATE
            elif len(seen) >= MAX_SIGNALS_PER_DUEL:
                self.counts["dropped signals"] += 1
                self.results[index] = Status.LIMIT
            else:
                if signal.declared:
                    self.counts[f"action {signal.action}"] += 1
                    self.counts[f"pages with {signal.action}"] += signal.action not in seen.values()
                else:
                    self.counts["undeclared actions"] += 1
                self.results[index] = Status.ACCEPTED
                seen[signal.key] = signal.action
                new.append(signal)
        if new:
            rows = [(self.id, *signal[: len(sql.SIGNAL_COLUMNS)]) for signal in new]
            self.storage.write_rows(sql.INSERT_SIGNALS, rows)

    def _stored_actions(self, keys: set[Key]) -> dict[Key, dict[str, str]]:
        """Return the actions of the stored signals of these duels, by the key of the signal."""
        actions: dict[Key, dict[str, str]] = {key: {} for key in keys}
        find = self.storage.statements.signals_of_duels
        for session, number, key, action in self.storage.fetch_each(find, by_session(self.id, keys)):
            actions[session, number][key] = action
        return actions

    def _save_duels(self) -> None:
        """Write new and changed duels."""
        issued, changed = ([self.duels[key] for key in keys] for keys in (self.issued, self.changed))
        self.issued, self.changed = {}, {}
        if issued and self._insert(issued) < len(issued):
            self.conflict = True
        if changed:
            self.storage.write_rows(sql.UPDATE_DUELS, [(self.id, *row) for row in changed])

    def _save(self, before: int) -> None:
        storage = self.storage
        if self.number > before:
            events = [(self.id, event.number, event.time, event.kind, event_text(event)) for event in self.events]
            storage.write_rows(sql.INSERT_EVENTS, events)
            storage.write(sql.ADVANCE_TOURNAMENT, (self.number, self.time, self.id))
        grown = [(self.id, name, by) for name, by in self.counts.items() if by]
        if grown:
            storage.write_rows(sql.ADD_COUNTERS, sorted(grown))


_HANDLERS = {
    Created: "_create",
    Opened: "_open",
    Show: "_show",
    Tell: "_tell",
    Change: "_change",
    Void: "_void",
    Fail: "_fail",
    ExpireDue: "_expire_due",
    CounterDelta: "_count",
    Remove: "_remove",
    Delete: "_delete",
    DeleteRows: "_delete_rows",
}


def _delay(seconds: float) -> int:
    """Return the bucket of a delay: the smallest of 1, 10, 100, ... seconds that is not below it."""
    bound = 1
    while bound < seconds:
        bound *= 10
    return bound
