"""The tables of a storage, and the interface of a database backend: connect, run statements, commit."""

import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.events import Event
from rankduel.live.storage.shared_statements import TOURNAMENT_ID, TOURNAMENT_IDS, BulkWrite, Statements

__all__ = [
    "SCHEMA",
    "Database",
    "by_session",
    "event_text",
    "no_storage",
    "opened_before_fork",
    "tables",
    "text",
    "wrong_schema",
]

SCHEMA = 3  # version of the tables
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
CREATE INDEX duels_unpruned ON duels (tournament, issued)
    WHERE state NOT IN ('issued', 'shown') AND coalesce(page, 'none') <> '';
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
text = json.JSONEncoder(separators=(",", ":")).encode  # compact JSON
_log = logging.getLogger("rankduel")


def tables(**words: str) -> str:
    """Return the statements that create the tables. `words` are the column types of a database."""
    return _TABLES.format(**words)


def by_session(id: int, duels: Iterable[tuple[int, int]]) -> list[tuple[str, int, int]]:
    """Return the values for `duels_by_number` and `signals_of_duels`, one list for each session."""
    sessions: dict[int, list[int]] = {}
    for session, number in duels:
        sessions.setdefault(session, []).append(number)
    return [(text(numbers), id, session) for session, numbers in sessions.items()]


def event_text(event: Event) -> str:
    """Return the body of an event as JSON. Most events are outcomes: an f-string takes 0.9 us for one, `json` 7 us."""
    body = event.body
    if event.kind != "resolved":
        return text(body)
    odds = "" if (given := body.get("propensity")) is None else f',"propensity":[{given[0]!r},{given[1]!r}]'
    duel = f'"duel":"{body["duel"]}","first":{body["first"]},"second":{body["second"]}'
    return f'{{{duel},"outcome":"{body["outcome"]}"{odds}}}'


def no_storage(address: str) -> str:
    """Return the error message for a storage that does not exist."""
    return f"no storage at {address}; check the address, or create one with `rankduel init`"


def wrong_schema(storage: str, schema: int, expected: int) -> str:
    """Return the error message for a storage with another schema than this version reads.

    >>> wrong_schema("duels.db", 1, expected=2)
    'duels.db has schema 1, but this version of rankduel reads schema 2; run `rankduel storage upgrade`'
    """
    advice = "install a newer version" if schema > expected else "run `rankduel storage upgrade`"
    return f"{storage} has schema {schema}, but this version of rankduel reads schema {expected}; {advice}"


def opened_before_fork(process: int) -> str:
    """Return the error message for a storage that another process opened before a fork."""
    return f"the storage was opened by process {process}, not by {os.getpid()}; open it again after the fork"


class Database(ABC):
    """The interface of a database backend: how to connect, lock and run statements."""

    shared: bool
    statements: Statements  # the statements that differ between backends
    secret: bytes
    url: str
    damage: str | None = None  # once set, nothing is written any more
    snapshot_damage: str | None = None  # once set, the journal is replayed instead, and no snapshot is written

    def report_damage(self, damage: str, *, snapshots: bool = False) -> None:
        """Note that the storage, or only its table of snapshots, is damaged, until it is opened again."""
        if snapshots and self.snapshot_damage is None:
            self.snapshot_damage = f"the snapshots are damaged, the journal is replayed instead: {damage}"
            _log.error("%s: %s", self.url, self.snapshot_damage)
        elif not snapshots and self.damage is None:
            self.damage = f"the storage is damaged, nothing is acknowledged any more: {damage}"
            _log.error("%s: %s", self.url, self.damage)

    def redacted(self, message: str) -> str:
        """Return a message without the address of the storage, which only operators may see."""
        return message.replace(self.url, "the storage")

    def check_sound(self) -> None:
        """Raise StorageError if damage is known."""
        if self.damage is not None:
            raise StorageError(self.damage)

    def __init__(self) -> None:
        self.ranker_times: dict[str, list[float]] = {}  # when each ranker was added; may lack the newest
        self._ids: dict[str, int] = {}  # of tournaments

    @abstractmethod
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Any:
        """Return a context manager for a transaction. With `durable`, it is on the disk at its end.

        With `snapshots`, only that table is used, and damage found there does not stop other writes.
        """

    @abstractmethod
    def rollback(self) -> None:
        """Roll the transaction back."""

    @abstractmethod
    def write(self, statement: str, values: Sequence[Any]) -> None:
        """Run a statement that writes, in a transaction."""

    @abstractmethod
    def count_written(self, statement: str, values: Sequence[Any]) -> int:
        """Like `write`. Return the number of written rows."""

    @abstractmethod
    def write_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> None:
        """Write any number of rows, in a transaction."""

    @abstractmethod
    def count_written_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> int:
        """Like `write_rows`. Return the number of written rows."""

    @abstractmethod
    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Run a statement for each list of values, in a transaction. Return all rows."""

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that reads or writes, in a transaction. Return its rows."""
        return self.fetch_each(statement, [values])

    @abstractmethod
    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read durable data, from any thread. For `snapshots`, see `transaction`."""

    @abstractmethod
    def leads(self, tournament: str) -> bool:
        """Whether this process is the leader, which resolves and expires the duels of a tournament."""

    def resign(self, tournament: str) -> None:  # noqa: B027 - nothing to do if no other process can lead
        """Let another process lead a tournament."""

    @abstractmethod
    def close(self) -> None:
        """Close the storage, so that another process can open it."""

    def deleted(self) -> set[str]:
        """Return the tournaments that this process has used and that were deleted, by any process.

        A new tournament with the name of a deleted one has another id.
        """
        stored = dict(self.select(TOURNAMENT_IDS))
        return {name for name, id in list(self._ids.items()) if stored.get(name) != id}

    def forget(self, tournament: str) -> None:
        """Forget what is cached of a tournament, because it was deleted."""
        self._ids.pop(tournament, None)
        self.ranker_times.pop(tournament, None)

    def tournament_id(self, tournament: str) -> int:
        """Return the id of a tournament; -1 if it does not exist."""
        if tournament not in self._ids:
            rows = self.select(TOURNAMENT_ID, (tournament,))
            if not rows:
                return -1
            self._ids[tournament] = rows[0][0]
        return self._ids[tournament]
