"""What SQLite and PostgreSQL have in common: the tables, and how a batch of entries becomes one transaction."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.duels import OPEN, DuelRow, Status, settle
from rankduel.live.events import Event
from rankduel.live.storage import (
    Change,
    Committed,
    Created,
    Entry,
    Issue,
    Kept,
    KeyRow,
    Noted,
    Opened,
    Show,
    SignalRow,
    Sweep,
    Tell,
    Told,
    Void,
)

__all__ = ["SCHEMA", "SqlStorage", "tables"]

SCHEMA = 1  # of the tables
_CHUNK = 10_000  # events read at once: a long read would keep SQLite's log from being folded into the file
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE tournaments (
    id {id}, name TEXT NOT NULL UNIQUE, number {int} NOT NULL, time {float} NOT NULL, session {int} NOT NULL
);
CREATE TABLE journal (
    tournament {int} NOT NULL, number {int} NOT NULL, time {float} NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (tournament, number)
) {clustered};
CREATE INDEX journal_changes ON journal (tournament, number) WHERE kind <> 'told';
CREATE TABLE duels (
    tournament {int} NOT NULL, session {int} NOT NULL, number {int} NOT NULL, query TEXT, client TEXT,
    first {int} NOT NULL, second {int} NOT NULL, first_propensity {float}, second_propensity {float},
    issued {float} NOT NULL, expires {float} NOT NULL, state TEXT NOT NULL, outcome TEXT, page TEXT,
    PRIMARY KEY (tournament, session, number)
) {clustered};
CREATE UNIQUE INDEX duels_by_query ON duels (tournament, query) WHERE query IS NOT NULL;
CREATE INDEX duels_by_client ON duels (tournament, client, issued) WHERE client IS NOT NULL;
CREATE INDEX duels_open ON duels (tournament, expires) WHERE state IN ('issued', 'shown');
CREATE INDEX duels_shown ON duels (tournament, issued) WHERE state = 'shown';
CREATE TABLE signals (
    tournament {int} NOT NULL, session {int} NOT NULL, number {int} NOT NULL, key TEXT NOT NULL, time {float} NOT NULL,
    action TEXT NOT NULL, object TEXT, position {int}, dwell {float},
    PRIMARY KEY (tournament, session, number, key)
) {clustered};
CREATE TABLE counters (
    tournament {int} NOT NULL, name TEXT NOT NULL, value {int} NOT NULL, PRIMARY KEY (tournament, name)
) {clustered};
CREATE TABLE snapshots (
    tournament {int} NOT NULL, number {int} NOT NULL, state TEXT NOT NULL, bandit {bytes} NOT NULL,
    sha256 TEXT NOT NULL, PRIMARY KEY (tournament, number)
);
CREATE TABLE keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, scopes TEXT NOT NULL, digest TEXT NOT NULL, created {float} NOT NULL,
    revoked {float}
)
"""
_COLUMNS = ", ".join(DuelRow._fields)
_FIND = f"SELECT {_COLUMNS} FROM duels WHERE tournament = ? AND"
_text = json.JSONEncoder(separators=(",", ":")).encode


def tables(**words: str) -> str:
    """The statements that make the tables; what differs between databases is given by name."""
    return _TABLES.format(**words)


class SqlStorage(ABC):
    """A storage in tables. A database says how it connects, locks, and runs a statement; placeholders are `?`."""

    shared: bool
    secret: bytes
    url: str
    changed = "journal"  # where what is no outcome is looked for

    # What a database says

    @abstractmethod
    def transaction(self, *, durable: bool = True) -> Any:
        """A context in which all writes and fetches happen together, or not at all; durable at its end, if need be."""

    @abstractmethod
    def write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows, in a transaction; the statement is one for a single row."""

    @abstractmethod
    def run_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """The same; how many rows have changed."""

    @abstractmethod
    def run_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> list[int]:
        """The same, for each of them."""

    @abstractmethod
    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction: all that is found for any of the values."""

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The same, for one."""
        return self.fetch_each(statement, [values])

    @abstractmethod
    def select(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Read what is durable, from any thread."""

    @abstractmethod
    def leads(self, tournament: str) -> bool:
        """Whether this process is the one that lets duels of this tournament expire and resolves them."""

    def resign(self, tournament: str) -> None:  # noqa: B027 - where nobody else may lead, there is nothing to do
        """Let another process lead a tournament."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it, so that another process may have it."""

    locked = ""  # what makes other processes wait for a tournament that was selected
    values = "json_each(?)"  # a table of one column, `value`, from a JSON list

    # Writing

    def commit(self, batch: Sequence[tuple[str, Entry]]) -> Committed:
        """Write all entries of these tournaments or none; on return they are durable. One thread calls this."""
        places: dict[str, list[int]] = {}
        for place, (name, _) in enumerate(batch):
            places.setdefault(name, []).append(place)
        committed = Committed([None] * len(batch), {}, {})
        with self.transaction(durable=any(not isinstance(entry, Issue | Noted) for _, entry in batch)):
            for name in sorted(places):  # always in this order: no two processes wait for each other
                page = _Page(self, name, [batch[place][1] for place in places[name]])
                page.write()
                for place, result in zip(places[name], page.results, strict=True):
                    committed.results[place] = result
                committed.events[name], committed.counts[name] = page.events, page.counts
        return committed

    # Reading

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""
        owner = self._owner(tournament)
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
                except ValueError as error:
                    raise StorageError(f"{self.url} is damaged: event {number} of {tournament!r}: {error}") from error

    def changes(self, tournament: str, limit: int, before: int | None = None) -> list[Event]:
        """The latest events that are no outcomes, or the latest before that number; newest first."""
        rows = self.select(
            f"SELECT number, time, kind, body FROM {self.changed} WHERE tournament = ? AND number < ? "
            "AND kind <> 'told' ORDER BY number DESC LIMIT ?",
            (self._owner(tournament), 2**62 if before is None else before, limit),
        )
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def told_since(self, tournament: str, time: float) -> int:
        """How many outcomes the journal has from a time on. Times never go back: what was before is soon found."""
        owner = self._owner(tournament)
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
        rows = self.select(f"{_FIND} session = ? AND number = ?", (self._owner(tournament), session, number))
        return DuelRow(*rows[0]) if rows else None

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, for those that have one; perhaps not of those written in the last moment."""
        owner = self._owner(tournament)
        if len(queries) == 1:
            rows = self.look_up(f"{_FIND} query = ?", (owner, queries[0]))
        else:
            rows = self.look_up(self.find_queries, (_text(queries), owner))
        return {row[2]: DuelRow(*row) for row in rows}

    def look_up(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read what was durable a moment ago."""
        return self.select(statement, values)

    def rest(self, *, at_once: bool = False) -> None:  # noqa: B027 - most hold nothing
        """Let go of what is held for reading, if it is old. Called now and then."""

    @property
    def find_queries(self) -> str:
        """Selects the duels of a JSON list of queries, and of a tournament."""
        return f"{self._find_listed} AND query = value"

    @property
    def find_numbers(self) -> str:
        """Selects the duels of a JSON list of numbers, of a tournament, and of a session."""
        return f"{self._find_listed} AND session = ? AND number = CAST(value AS BIGINT)"

    @property
    def _find_listed(self) -> str:
        # As a join, which is ten times as fast as IN with many placeholders; and from left to right.
        return f"SELECT {_COLUMNS} FROM {self.values} CROSS JOIN duels WHERE tournament = ?"

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """The latest duels, or the latest ones before a session and number; newest first."""
        rows = self.select(
            f"{_FIND} (session, number) < (?, ?) ORDER BY session DESC, number DESC LIMIT ?",
            (self._owner(tournament), *(before or (2**62, 0)), limit),
        )
        return [DuelRow(*row) for row in rows]

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Duels that were shown, not told, and issued at that time or before."""
        statement = f"{_FIND} state = 'shown' AND issued <= ? ORDER BY issued LIMIT ?"
        return [DuelRow(*row) for row in self.select(statement, (self._owner(tournament), issued_until, limit))]

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether a `Sweep` would find something."""
        statement = "SELECT 1 FROM duels WHERE tournament = ? AND state IN ('issued', 'shown') AND expires <= ? LIMIT 1"
        return bool(self.select(statement, (self._owner(tournament), time)))

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """What users did on the page of a duel, in the order of time."""
        rows = self.select(
            f"SELECT {', '.join(SignalRow._fields)} FROM signals "
            "WHERE tournament = ? AND session = ? AND number = ? ORDER BY time, key",
            (self._owner(tournament), session, number),
        )
        return [SignalRow(*row) for row in rows]

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """How many duels a client was issued since a time."""
        statement = "SELECT count(*) FROM duels WHERE tournament = ? AND client = ? AND issued >= ?"
        count: int = self.select(statement, (self._owner(tournament), client, since))[0][0]
        return count

    def counts(self, tournament: str) -> dict[str, int]:
        """The counters."""
        rows = self.select("SELECT name, value FROM counters WHERE tournament = ?", (self._owner(tournament),))
        return dict(rows)

    def kept(self, tournament: str) -> Iterator[Kept]:
        """The undamaged snapshots, newest first."""
        owner = self._owner(tournament)
        numbers = "SELECT number FROM snapshots WHERE tournament = ? ORDER BY number DESC"
        for (number,) in self.select(numbers, (owner,)):
            statement = "SELECT number, state, bandit, sha256 FROM snapshots WHERE tournament = ? AND number = ?"
            for stored in self.select(statement, (owner, number)):
                kept = Kept(stored[0], stored[1], bytes(stored[2]))
                if _digest(kept) == stored[3]:
                    yield kept

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

    def _owner(self, tournament: str) -> int:
        """The id of a tournament; that of none if it is not there."""
        known = self.__dict__.setdefault("_ids", {})
        if tournament not in known:
            rows = self.select("SELECT id FROM tournaments WHERE name = ?", (tournament,))
            if not rows:
                return -1
            known[tournament] = rows[0][0]
        owner: int = known[tournament]
        return owner


class _Page:
    """The entries of one tournament in a transaction."""

    def __init__(self, storage: SqlStorage, name: str, entries: list[Entry]) -> None:
        self.storage = storage
        self.name = name
        self.number, self.time = 0, 0.0  # where the journal ends, once it is locked
        self.entries = entries
        self.results: list[Any] = [None] * len(entries)
        self.events: list[Event] = []
        self.counts: Counter[str] = Counter()
        self.duels: dict[tuple[int, int], DuelRow | None] = {}  # those that entries name, as they are now
        self.changed: dict[tuple[int, int], DuelRow] = {}  # and are not written yet, as the next ones
        self.signals: dict[int, SignalRow] = {}  # by their place

    def write(self) -> None:
        """Take in all entries, in their order, and write what has changed."""
        self.owner = self.storage._owner(self.name)
        if self.owner < 0 or any(not isinstance(entry, Issue | Noted) for entry in self.entries):
            self._lock()
        before = self.number
        self._issue()
        self._find()
        for place, entry in enumerate(self.entries):
            if isinstance(entry, SignalRow):
                self._signal(place, entry)
            elif not isinstance(entry, Issue):
                self.results[place] = getattr(self, _WRITERS[type(entry)])(entry)
        self._save_signals()
        self._save_duels()
        self._save(before)

    def _lock(self) -> None:
        """Where the journal ends; nobody else writes to it until the transaction is over."""
        storage = self.storage
        find = f"SELECT id, number, time FROM tournaments WHERE name = ? {storage.locked}"
        found = storage.fetch(find, (self.name,))
        if not found:
            if not isinstance(self.entries[0], Created):
                raise StorageError(f"no tournament {self.name!r} in {storage.url}")
            # Another process may create it at the same moment: then this one finds it.
            storage.write(
                "INSERT INTO tournaments (name, number, time, session) VALUES (?, 0, 0, 0) ON CONFLICT DO NOTHING",
                [(self.name,)],
            )
            found = storage.fetch(find, (self.name,))
        self.owner, self.number, self.time = found[0]

    def _issue(self) -> None:
        """The duels that were asked for. One of another process may have their query already."""
        issued = [entry.row for entry in self.entries if isinstance(entry, Issue)]
        if not issued:
            return
        if self.storage.shared:
            issued.sort(key=lambda row: row.query or "")  # no two processes wait for each other
        theirs: dict[str, DuelRow] = {}
        if self._insert(issued) < len(issued) and self.storage.shared:
            queries = [row.query for row in issued if row.query is not None]
            for row in self.storage.fetch(self.storage.find_queries, (_text(queries), self.owner)):
                theirs[row[2]] = DuelRow(*row)
        for place, entry in enumerate(self.entries):
            if isinstance(entry, Issue):
                self.results[place] = theirs.get(entry.row.query or "", entry.row)

    def _insert(self, rows: list[DuelRow]) -> int:
        """Write those that are not there, neither they nor another one of their query; how many they were."""
        marks = ", ".join("?" * len(DuelRow._fields))
        statement = f"INSERT INTO duels (tournament, {_COLUMNS}) VALUES (?, {marks}) ON CONFLICT DO NOTHING"
        new = self.storage.run_many(statement, [(self.owner, *row) for row in rows])
        self.counts["issued"] += new
        return new

    def _find(self) -> None:
        """The duels that entries name; those that only a ticket knows are written now."""
        named = [entry for entry in self.entries if isinstance(entry, Tell | Show | Void | SignalRow)]
        sessions: dict[int, set[int]] = {}
        for entry in named:
            sessions.setdefault(entry.session, set()).add(entry.number)
        if sessions:
            given = [(_text(list(numbers)), self.owner, session) for session, numbers in sessions.items()]
            for found in self.storage.fetch_each(self.storage.find_numbers, given):
                self.duels[found[0], found[1]] = DuelRow(*found)
        for entry in named:
            key = entry.session, entry.number
            if key not in self.duels and isinstance(entry, Tell | Show) and (row := entry.row) is not None:
                self.counts["recovered asks"] += 1
                if not self._insert([row]) and row.query is not None:  # the query has another duel by now
                    row = row._replace(query=None)
                    self._insert([row])
                self.duels[key] = row

    def _tell(self, entry: Tell) -> Told:
        key = entry.session, entry.number
        row = self.duels.get(key)
        status, after = settle(row, entry.outcome, max(entry.time, self.time), entry.page)
        if after is None or row is None:
            self.counts[status] += status is not Status.LATE
            return Told(status, None if row is None else row.outcome)
        self.duels[key] = self.changed[key] = after
        self.counts[after.state] += 1
        self.counts["pages"] += row.state == "issued"
        self.counts[_delay(entry.time - row.issued)] += 1
        if status is Status.LATE:
            self.counts["expired"] += row.state in OPEN
        elif after.state == "told":
            body = {"duel": row.id, "first": row.first, "second": row.second, "outcome": entry.outcome}
            if row.first_propensity is not None:
                body["propensity"] = [row.first_propensity, row.second_propensity]
            self._happens(entry.time, "told", body)
            self.counts[f"outcome {entry.outcome}"] += 1
        return Told(status, entry.outcome)

    def _show(self, entry: Show) -> Status:
        key = entry.session, entry.number
        row = self.duels.get(key)
        if row is None:
            return Status.UNKNOWN
        if row.state != "issued":
            same = row.page is None or row.page.startswith(entry.page[:-1])  # one that was told has its clicks, too
            return Status.DUPLICATE if same else Status.CONFLICT
        if max(entry.time, self.time) >= row.expires:
            return Status.LATE
        self.duels[key] = self.changed[key] = row._replace(state="shown", page=entry.page)
        self.counts["shown"] += 1
        self.counts["pages"] += 1
        return Status.ACCEPTED

    def _void(self, entry: Void) -> str | None:
        key = entry.session, entry.number
        row = self.duels.get(key)
        if row is None:
            return None
        if row.state in OPEN:
            self.duels[key] = self.changed[key] = row._replace(state="void")
            self.counts["void"] += 1
            self._happens(entry.time, "voided", entry.body)
        return row.state

    def _create(self, entry: Created) -> Event | None:
        return None if self.number else self._happens(entry.time, "created", entry.settings)

    def _open(self, entry: Opened) -> int:
        statement = "UPDATE tournaments SET session = session + 1 WHERE id = ? RETURNING session"
        session: int = self.storage.fetch(statement, (self.owner,))[0][0]
        return session

    def _change(self, entry: Change) -> Event:
        return self._happens(entry.time, entry.kind, entry.body)

    def _note(self, entry: Noted) -> None:
        self.counts.update(entry.counts)

    def _signal(self, place: int, signal: SignalRow) -> None:
        row = self.duels.get((signal.session, signal.number))
        if row is not None and row.state in OPEN:
            self.signals[place] = signal
        else:
            self.counts["late signals"] += row is not None
            self.counts["orphan signals"] += row is None
            self.results[place] = Status.UNKNOWN if row is None else Status.LATE

    def _sweep(self, entry: Sweep) -> int:
        self._save_duels()  # what was told in this transaction does not expire
        time = max(entry.time, self.time)
        statement = (
            "UPDATE duels SET state = 'expired' WHERE tournament = ? AND state IN ('issued', 'shown') AND expires <= ?"
        )
        gone = self.storage.run_many(statement, [(self.owner, time)])
        self.counts["expired"] += gone
        for key, row in self.duels.items():
            if row is not None and row.state in OPEN and row.expires <= time:
                self.duels[key] = row._replace(state="expired")
        return gone

    def _keep(self, kept: Kept) -> None:
        """The newest two stay: if one is damaged, there is another."""
        self.storage.write(
            "INSERT INTO snapshots (tournament, number, state, bandit, sha256) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (tournament, number) DO UPDATE SET state = excluded.state, bandit = excluded.bandit, "
            "sha256 = excluded.sha256",
            [(self.owner, *kept, _digest(kept))],
        )
        self.storage.write(
            "DELETE FROM snapshots WHERE tournament = ? AND number < "
            "(SELECT number FROM snapshots WHERE tournament = ? ORDER BY number DESC LIMIT 1 OFFSET 1)",
            [(self.owner, self.owner)],
        )

    def _happens(self, time: float, kind: str, body: dict[str, Any]) -> Event:
        self.number += 1
        self.time = max(time, self.time)
        event = Event(self.number, self.time, kind, body)
        self.events.append(event)
        return event

    def _save_signals(self) -> None:
        if not self.signals:
            return
        fields = SignalRow._fields
        statement = (
            f"INSERT INTO signals (tournament, {', '.join(fields)}) VALUES ({', '.join('?' * (1 + len(fields)))}) "
            "ON CONFLICT DO NOTHING"
        )
        new = self.storage.run_each(statement, [(self.owner, *signal) for signal in self.signals.values()])
        for (place, signal), is_new in zip(self.signals.items(), new, strict=True):
            self.counts[f"action {signal.action}" if is_new else "duplicate signals"] += 1
            self.results[place] = Status.ACCEPTED if is_new else Status.DUPLICATE

    def _save_duels(self) -> None:
        if self.changed:
            self.storage.write(
                "UPDATE duels SET state = ?, outcome = ?, page = ? WHERE tournament = ? AND session = ? AND number = ?",
                [(row.state, row.outcome, row.page, self.owner, *key) for key, row in self.changed.items()],
            )
            self.changed = {}

    def _save(self, before: int) -> None:
        write = self.storage.write
        if self.number > before:
            lines = [(self.owner, event.number, event.time, event.kind, _text(event.body)) for event in self.events]
            write("INSERT INTO journal (tournament, number, time, kind, body) VALUES (?, ?, ?, ?, ?)", lines)
            write("UPDATE tournaments SET number = ?, time = ? WHERE id = ?", [(self.number, self.time, self.owner)])
        grown = [(self.owner, name, by) for name, by in self.counts.items() if by]
        if grown:
            write(
                "INSERT INTO counters (tournament, name, value) VALUES (?, ?, ?) "
                "ON CONFLICT (tournament, name) DO UPDATE SET value = counters.value + excluded.value",
                sorted(grown),
            )


_WRITERS = {
    Created: "_create",
    Opened: "_open",
    Show: "_show",
    Tell: "_tell",
    Change: "_change",
    Void: "_void",
    Sweep: "_sweep",
    Kept: "_keep",
    Noted: "_note",
}


def _delay(seconds: float) -> str:
    """The name of the counter of such a delay: the least of 1, 10, 100, ... seconds that it does not exceed."""
    bound = 1
    while bound < seconds:
        bound *= 10
    return f"delay {bound}"


def _digest(kept: Kept) -> str:
    return hashlib.sha256(str(kept.number).encode() + b"\n" + kept.state.encode() + b"\n" + kept.bandit).hexdigest()
