"""A storage in one SQLite file, owned by one process at a time."""

import fcntl
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.events import DuelRow, Event, closings, issued
from rankduel.live.storage import Entry, Kept

__all__ = ["SqliteStorage"]

_SCHEMA = 1
_OURS = 0x52414E4B  # "RANK": what SQLite calls the application id
_CHUNK = 10_000  # events read at once: a long read would keep the log from being folded into the file
_TABLES = """
CREATE TABLE tournaments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE journal (
    tournament INTEGER NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (tournament, number)
) WITHOUT ROWID;
CREATE TABLE duels (
    tournament INTEGER NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL, query TEXT,
    first INTEGER NOT NULL, second INTEGER NOT NULL, expires REAL NOT NULL, state TEXT NOT NULL, outcome TEXT,
    PRIMARY KEY (tournament, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX duels_by_query ON duels (tournament, query) WHERE query IS NOT NULL;
CREATE TABLE snapshots (
    tournament INTEGER NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, bandit BLOB NOT NULL,
    sha256 TEXT NOT NULL, PRIMARY KEY (tournament, number)
);
"""
_FIND = "SELECT number, session, query, first, second, expires, state, outcome FROM duels WHERE tournament = ? AND"
_text = json.JSONEncoder(separators=(",", ":")).encode


class SqliteStorage:
    """Tables `journal`, `duels` and `snapshots` in one file, with a write-ahead log that is synced at each commit.

    One process owns the file, by a lock on `FILE.lock` that ends with the process, however it ends. Others may read it
    with any tool meanwhile.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._reading = threading.Lock()
        self._ids: dict[str, int] = {}
        self._lock = _lock(self.path)
        try:
            self._writer = self._connect()
            _prepare(self._writer, self.path)
            self._reader = self._connect()
            self._reader.execute("PRAGMA query_only = ON")
            self._ids.update(self._select("SELECT name, id FROM tournaments"))
        except sqlite3.Error as error:
            os.close(self._lock)
            raise StorageError(f"cannot open {self.path}: {error}") from error
        except StorageError:
            os.close(self._lock)
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the log is on the disk
        connection.execute("PRAGMA cache_size = -65536")  # 64 MB
        return connection

    def append(self, batch: Sequence[Entry]) -> None:
        """Write all entries or none; on return they are durable."""
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                self._write(batch)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StorageError(f"cannot write to {self.path}: {error}") from error

    def _write(self, batch: Sequence[Entry]) -> None:
        journal, begun, ended = [], [], []
        for name, what in batch:
            if isinstance(what, Kept):
                self._write_snapshot(self._ids[name], what)
                continue
            if what.kind == "created":
                made = self._writer.execute("INSERT INTO tournaments (name) VALUES (?)", (name,))
                self._ids[name] = made.lastrowid or 0
            owner = self._ids[name]
            journal.append((owner, what.number, what.time, what.kind, _text(what.body)))
            if (row := issued(what)) is not None:
                begun.append((owner, *row))
            ended += [(state, outcome, owner, number) for number, state, outcome in closings(what)]
        run = self._writer.executemany
        run("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", journal)
        run("INSERT INTO duels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", begun)
        run("UPDATE duels SET state = ?, outcome = ? WHERE tournament = ? AND number = ?", ended)

    def _write_snapshot(self, owner: int, kept: Kept) -> None:
        """The newest two stay: if one is damaged, there is another."""
        values = (owner, *kept, _digest(kept))
        self._writer.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", values)
        self._writer.execute(
            "DELETE FROM snapshots WHERE tournament = ?1 AND number < "
            "(SELECT number FROM snapshots WHERE tournament = ?1 ORDER BY number DESC LIMIT 1 OFFSET 1)",
            (owner,),
        )

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""
        while rows := self._select(
            "SELECT number, time, kind, body FROM journal WHERE tournament = ? AND number > ? ORDER BY number LIMIT ?",
            (self._ids.get(tournament), since, _CHUNK),
        ):
            for number, time, kind, body in rows:
                since += 1
                if number != since:
                    raise StorageError(f"{self.path} is damaged: {tournament!r} has no event {since}, but {number}")
                try:
                    yield Event(number, time, kind, json.loads(body))
                except ValueError as error:
                    raise StorageError(f"{self.path} is damaged: event {number} of {tournament!r}: {error}") from error

    def duel(self, tournament: str, number: int) -> DuelRow | None:
        """The duel of that number."""
        return self._duel(f"{_FIND} number = ?", tournament, number)

    def duel_of(self, tournament: str, query: str) -> DuelRow | None:
        """The duel of that query."""
        return self._duel(f"{_FIND} query = ?", tournament, query)

    def _duel(self, statement: str, tournament: str, value: object) -> DuelRow | None:
        rows = self._select(statement, (self._ids.get(tournament), value))
        return DuelRow(*rows[0]) if rows else None

    def kept(self, tournament: str) -> Iterator[Kept]:
        """The undamaged snapshots, newest first."""
        for number, state, bandit, digest in self._select(
            "SELECT number, state, bandit, sha256 FROM snapshots WHERE tournament = ? ORDER BY number DESC",
            (self._ids.get(tournament),),
        ):
            kept = Kept(number, state, bandit)
            if _digest(kept) == digest:
                yield kept

    def names(self) -> list[str]:
        """The tournaments, in alphabetical order."""
        return sorted(self._ids)

    def close(self) -> None:
        """Fold the log into the file and let go of it."""
        self._reader.close()
        self._writer.close()
        os.close(self._lock)

    def _select(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._reading:
                return self._reader.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"cannot read {self.path}: {error}") from error


def _lock(path: Path) -> int:
    """The lock of the file's owner, as an open file."""
    place = path.with_name(f"{path.name}.lock")
    try:
        lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(f"cannot open {place}: {error.strerror}") from error
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unlike flock, a fork does not share it
    except OSError:
        owner = os.read(lock, 20).decode(errors="replace").strip() or "?"
        os.close(lock)
        raise StorageError(f"{path} is in use by process {owner}: only one can own a SQLite file") from None
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file; refuse one that is not ours, or of another version."""
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; {_TABLES} PRAGMA application_id = {_OURS}; PRAGMA user_version = {_SCHEMA}; COMMIT;"
        )
        _sync_folder(path)
    elif ours != _OURS:
        raise StorageError(f"{path} is a SQLite file, but not one of rankduel")
    elif schema != _SCHEMA:
        raise StorageError(f"{path} has schema {schema}, this version of rankduel reads {_SCHEMA}")


def _sync_folder(path: Path) -> None:
    """Make the name of a new file durable, too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _digest(kept: Kept) -> str:
    return hashlib.sha256(b"%d\n%s\n%s" % (kept.number, kept.state.encode(), kept.bandit)).hexdigest()
