"""What SQLite and PostgreSQL have in common: the tables, and what a database says of itself."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow

__all__ = ["COLUMNS", "SCHEMA", "SIGNAL_COLUMNS", "Database", "tables", "text"]

SCHEMA = 1  # of the tables
COLUMNS = ", ".join(DuelRow._fields)
SIGNAL_COLUMNS = ("session", "number", "key", "time", "action", "object", "position", "dwell")
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
text = json.JSONEncoder(separators=(",", ":")).encode  # as JSON
_log = logging.getLogger("rankduel")


def tables(**words: str) -> str:
    """The statements that make the tables; what differs between databases is given by name."""
    return _TABLES.format(**words)


class Database(ABC):
    """A database says how it connects, locks, and runs a statement; placeholders are `?`."""

    shared: bool
    secret: bytes
    url: str
    damage: str | None = None  # once this is known, nothing is written any more
    snapshot_damage: str | None = None  # the journal is replayed instead, and no snapshot is written

    def report_damage(self, found: str, *, snapshots: bool = False) -> None:
        """Remember until the storage is opened again that it, or only its table of snapshots, is damaged."""
        if snapshots and self.snapshot_damage is None:
            self.snapshot_damage = f"the snapshots are damaged, the journal is replayed instead: {found}"
            _log.error("%s: %s", self.url, self.snapshot_damage)
        elif not snapshots and self.damage is None:
            self.damage = f"the storage is damaged, nothing is acknowledged any more: {found}"
            _log.error("%s: %s", self.url, self.damage)

    def check_sound(self) -> None:
        """Raise StorageError if damage is known."""
        if self.damage is not None:
            raise StorageError(self.damage)

    def __init__(self) -> None:
        self.ranker_times: dict[str, list[float]] = {}  # when each ranker was added; perhaps without the newest
        self._ids: dict[str, int] = {}  # of tournaments

    @abstractmethod
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Any:
        """A context in which all writes and fetches happen together, or not at all; durable at its end, if need be.

        With `snapshots`, only that table is touched: damage that is found there does not stop other writes.
        """

    @abstractmethod
    def write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows, in a transaction; the statement is one for a single row."""

    @abstractmethod
    def run_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """The same; how many rows have changed."""

    @abstractmethod
    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction: all that is found for any of the values."""

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The same, for one."""
        return self.fetch_each(statement, [values])

    @abstractmethod
    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read what is durable, from any thread. `snapshots` as in `transaction`."""

    @abstractmethod
    def leads(self, tournament: str) -> bool:
        """Whether this process is the one that lets duels of this tournament expire and resolves them."""

    def resign(self, tournament: str) -> None:  # noqa: B027 - where nobody else may lead, there is nothing to do
        """Let another process lead a tournament."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it, so that another process may have it."""

    changed = "journal"  # where what is no outcome is looked for
    locked = ""  # what makes other processes wait for a tournament that was selected
    values = "json_each(?)"  # a table of one column, `value`, from a JSON list

    @property
    def find_queries(self) -> str:
        """Selects the duels of a JSON list of queries, and of a tournament."""
        return f"{self._find_listed} AND query = value"

    @property
    def find_numbers(self) -> str:
        """Selects the duels of a JSON list of numbers, of a tournament, and of a session."""
        return f"{self._find_listed} AND session = ? AND number = CAST(value AS BIGINT)"

    @property
    def find_signals(self) -> str:
        """Selects session, number, key and action of the signals of a JSON list of duels, as `find_numbers`."""
        found = f"SELECT session, number, signals.key, action FROM {self.values} CROSS JOIN signals"
        return f"{found} WHERE tournament = ? AND session = ? AND number = CAST(value AS BIGINT)"

    @property
    def _find_listed(self) -> str:
        # As a join, which is ten times as fast as IN with many placeholders; and from left to right.
        return f"SELECT {COLUMNS} FROM {self.values} CROSS JOIN duels WHERE tournament = ?"

    def owner(self, tournament: str) -> int:
        """The id of a tournament; that of none if it is not there."""
        if tournament not in self._ids:
            rows = self.select("SELECT id FROM tournaments WHERE name = ?", (tournament,))
            if not rows:
                return -1
            self._ids[tournament] = rows[0][0]
        return self._ids[tournament]
