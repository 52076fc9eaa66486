"""The tables of a storage, and what a database must be able to do: connect, run statements, commit."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.shared_statements import TOURNAMENT_ID, BulkWrite, Statements

__all__ = ["SCHEMA", "Database", "tables", "text"]

SCHEMA = 2  # the version of the tables
_TABLES = """
CREATE TABLE facts (name {text} PRIMARY KEY, value {text} NOT NULL);
CREATE TABLE tournaments (
    id {id}, name {text} NOT NULL UNIQUE, number {int} NOT NULL, time {float} NOT NULL, session {int} NOT NULL
);
CREATE TABLE journal (
    tournament {int} NOT NULL, number {int} NOT NULL, time {float} NOT NULL, kind {text} NOT NULL, body {text} NOT NULL,
    PRIMARY KEY (tournament, number)
) {clustered};
CREATE INDEX journal_changes ON journal (tournament, number) WHERE kind <> 'resolved';
CREATE TABLE duels (
    tournament {int} NOT NULL, session {int} NOT NULL, number {int} NOT NULL, query {text}, client {text},
    first {int} NOT NULL, second {int} NOT NULL, first_propensity {float}, second_propensity {float},
    issued {float} NOT NULL, expires {float} NOT NULL, state {text} NOT NULL, outcome {text}, page {text},
    PRIMARY KEY (tournament, session, number)
) {clustered};
CREATE UNIQUE INDEX duels_by_query ON duels (tournament, query) WHERE query IS NOT NULL;
CREATE INDEX duels_by_client ON duels (tournament, client, issued) WHERE client IS NOT NULL;
CREATE INDEX duels_open ON duels (tournament, expires) WHERE state IN ('issued', 'shown');
CREATE INDEX duels_shown ON duels (tournament, issued) WHERE state = 'shown';
CREATE TABLE signals (
    tournament {int} NOT NULL, session {int} NOT NULL, number {int} NOT NULL, key {text} NOT NULL,
    time {float} NOT NULL, action {text} NOT NULL, object {text}, position {int}, dwell {float},
    PRIMARY KEY (tournament, session, number, key)
) {clustered};
CREATE TABLE counters (
    tournament {int} NOT NULL, name {text} NOT NULL, value {int} NOT NULL, PRIMARY KEY (tournament, name)
) {clustered};
CREATE TABLE snapshots (
    tournament {int} NOT NULL, number {int} NOT NULL, state {text} NOT NULL, bandit {bytes} NOT NULL,
    sha256 {text} NOT NULL, PRIMARY KEY (tournament, number)
);
CREATE TABLE keys (
    id {text} PRIMARY KEY, name {text} NOT NULL, scopes {text} NOT NULL, digest {text} NOT NULL,
    created {float} NOT NULL, revoked {float}
)
"""
text = json.JSONEncoder(separators=(",", ":")).encode  # as JSON
_log = logging.getLogger("rankduel")


def tables(**words: str) -> str:
    """The statements that make the tables; what differs between databases is given by name."""
    return _TABLES.format(**words)


class Database(ABC):
    """A database says how it connects, locks, and runs a statement."""

    shared: bool
    statements: Statements  # those that the backends write differently
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
    def rollback(self) -> None:
        """End the transaction without its writes."""

    @abstractmethod
    def write(self, statement: str, values: Sequence[Any]) -> None:
        """Run a statement that writes, in a transaction."""

    @abstractmethod
    def count_written(self, statement: str, values: Sequence[Any]) -> int:
        """The same; how many rows were written."""

    @abstractmethod
    def write_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> None:
        """Write any number of rows, in a transaction."""

    @abstractmethod
    def count_written_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> int:
        """The same; how many rows were written."""

    @abstractmethod
    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction: all rows that the statement returns for any of these lists of values."""

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction: all rows that the statement returns."""
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
        """Close it, so that another process may open it."""

    def tournament_id(self, tournament: str) -> int:
        """The id of a tournament; -1 if there is no such tournament."""
        if tournament not in self._ids:
            rows = self.select(TOURNAMENT_ID, (tournament,))
            if not rows:
                return -1
            self._ids[tournament] = rows[0][0]
        return self._ids[tournament]
