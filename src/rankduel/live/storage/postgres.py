"""A storage in a PostgreSQL database, shared by any number of processes on any number of machines.

Needs an extra, so import it only where an address names it.
"""

import json
import logging
import os
import re
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from random import random
from time import monotonic, sleep
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.contract import Batch, Committed, StorageBusy
from rankduel.live.storage.schema import SCHEMA, tables
from rankduel.live.storage.sql import SqlStorage

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.numeric import Int8Dumper
except ImportError as missing:
    raise ImportError(f"no PostgreSQL without psycopg: pip install 'rankduel[postgres]' ({missing})") from missing

__all__ = ["PostgresStorage", "migrate"]

_TRIES = 5  # of a transaction that has certainly left no trace
_SHORT_LOCK_SECONDS = 0.25  # that a commit or an ask waits for a lock of another process at a time
_LONG_LOCK_SECONDS = 15.0  # that anything else waits for one
_IDLE = 1.0  # seconds after which a connection may have been cut without our notice
_PAUSE = 0.5  # seconds after a failed connection in which no other one is tried: nobody waits for it twice
_TABLES = tables(
    id="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    int="BIGINT",
    float="DOUBLE PRECISION",
    bytes="BYTEA",
    clustered="",
).replace("TEXT", 'TEXT COLLATE "C"')  # the order of SQLite, whatever the language of the database
_DEFAULTS = {  # unless the address says otherwise
    "fallback_application_name": "rankduel",
    "connect_timeout": 5,
    "target_session_attrs": "read-write",  # of several hosts, the one that takes writes
    # A database that is gone without a word is noticed after about ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SILENT = 10.0  # seconds after which a leader that hangs is none any more: it looks four times a second
_SETTINGS = """
SET search_path = rankduel, pg_temp;
SET statement_timeout = '30s';
-- A process that stops within a transaction is cut off before those who wait for it give up.
SET idle_in_transaction_session_timeout = '10s';
-- So is a machine that is gone without a word: its locks are free after about ten seconds.
SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
-- Each statement has its index; a plan that was made while a table was empty must not say otherwise.
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan;
-- Stronger promises than `on` are left as they are.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
_CREATION = 0x52414E4B  # "RANK": the advisory lock of who makes the tables
_INSERT = re.compile(r"(INSERT INTO (\w+) \(([^)]*)\)) VALUES \([?, ]*\)(.*)")
_UPDATE = re.compile(r"UPDATE (\w+) SET ([\w =?,]*) WHERE ([\w =?]*)")
_text = json.JSONEncoder(separators=(",", ":")).encode
_log = logging.getLogger("rankduel")

_Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStorage(SqlStorage):
    """Tables in the schema `rankduel` of a database, which several processes write to.

    Each process has a connection for writing, one for asks, one for other reads, and one that holds the lock of each
    tournament it leads. All are made again by themselves when they were cut. The events of a tournament are numbered
    under a lock on its row in `tournaments`, whoever leads.
    """

    shared = True
    locked = "FOR UPDATE"
    values = "json_array_elements_text(?::json) AS listed (value)"

    def __init__(self, url: str, *, own: bool = True) -> None:
        super().__init__()
        address = _address(url)
        self.url = _shown(address)  # without the password: it is in messages
        self._own = own
        self._writer, self._finder = (_Line(address, lock_seconds=_SHORT_LOCK_SECONDS) for _ in range(2))
        self._reader, self._leader = _Line(address), _Line(address, _SILENT)
        self._writing: _Connection  # within a transaction, as the next one
        self._pipeline: psycopg.Pipeline
        self._written = False
        self._led: dict[str, _Connection] = {}  # the tournaments that this process leads, by which connection
        self._resigned: set[str] = set()  # those that it should not lead any more
        try:
            with self._writer.lock:
                _prepare(self._writer.connected(), self.url, make=own)
            ((secret,),) = self.select("SELECT value FROM facts WHERE name = 'secret'")
            self.secret = bytes.fromhex(secret)
        except psycopg.Error as error:
            self.close()
            raise StorageError(f"cannot open {self.url}: {_said(error)}") from error
        except BaseException:
            self.close()
            raise

    def commit(self, batch: Batch) -> Committed:
        """Write all entries or none; what was certainly not written because of others is tried again."""
        for trial in count(1):
            try:
                return super().commit(batch)
            except _UndoneError:
                if trial == _TRIES:
                    raise
                sleep(random() * 0.01 * 2**trial)
        raise AssertionError  # not reached

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Those of these tournaments whose rows are not locked by another process."""
        names = "SELECT value FROM json_array_elements_text(?::json) AS listed (value)"
        find = f"SELECT name FROM tournaments WHERE name IN ({names}) FOR UPDATE SKIP LOCKED"
        try:
            with self.transaction(durable=False):
                return {name for (name,) in self.fetch(find, (_text(sorted(tournaments)),))}
        except StorageBusy:  # a lock on the whole table
            return set()

    @contextmanager
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Iterator[None]:
        """Written at its end, or not at all; and on the disk, if it shall be durable.

        Statements are sent together as far as nobody waits for what they answer.
        """
        with self._writer.lock:
            self.check_sound()
            doubtful = self._written = False
            try:
                connection = self._writing = self._writer.tried(after=_IDLE)
                try:
                    with connection.pipeline() as self._pipeline:
                        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                        if not durable:
                            connection.execute("SET LOCAL synchronous_commit = off")
                        yield
                        doubtful = self._written  # until there is an answer
                        commit = connection.execute("COMMIT")
                    if commit.statusmessage != "COMMIT":
                        raise StorageError(f"{self.url} has refused a commit")
                except BaseException:
                    if not connection.closed:
                        connection.execute("ROLLBACK")
                    raise
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.LockNotAvailable):
                    raise StorageBusy(f"another process holds a lock in {self.url}: {_said(error)}") from error
                others = isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure)
                kind = _UndoneError if others or (self._writer.cut and not doubtful) else StorageError
                raise self._failed("write to", error, kind, snapshots=snapshots) from error

    def write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write, in a transaction."""
        self._send(statement, rows)

    def run_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Write, in a transaction; how many rows have changed."""
        cursor = self._send(statement, rows)
        self._pipeline.sync()  # a mere flush would not start the clock for transactions that stand still
        return cursor.rowcount

    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction."""
        cursors = [self._writing.execute(_numbered(statement), values, binary=True) for values in given]
        self._pipeline.sync()
        return [row for cursor in cursors for row in cursor.fetchall()]

    def _send(self, statement: str, rows: Sequence[Sequence[Any]]) -> "psycopg.Cursor[tuple[Any, ...]]":
        """Many rows go as one statement."""
        self._written = True
        if len(rows) == 1:
            return self._writing.execute(_numbered(statement), rows[0])
        together, columns = _together(statement)
        given = _text([dict(zip(columns, row, strict=True)) for row in rows])
        return self._writing.execute(together, (given,))

    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read what is durable, from any thread."""
        return self._read(self._reader, statement, values, snapshots=snapshots)

    def look_up(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read for an ask: long reads of others do not keep it waiting, and no lock does for long."""
        return self._read(self._finder, statement, values)

    def _read(
        self, line: "_Line", statement: str, values: Sequence[Any], *, snapshots: bool = False
    ) -> list[tuple[Any, ...]]:
        try:
            with line.lock:
                return line.read(_numbered(statement), values)
        except psycopg.Error as error:
            raise self._failed("read", error, snapshots=snapshots) from error

    def _failed(
        self, verb: str, error: psycopg.Error, kind: type[StorageError] = StorageError, *, snapshots: bool = False
    ) -> StorageError:
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            self.report_damage(_said(error), snapshots=snapshots)
        return kind(f"cannot {verb} {self.url}: {_said(error)}")

    def leads(self, tournament: str) -> bool:
        """Whether this process holds the advisory lock of the tournament, which ends with its connection."""
        if not self._own:
            return False
        try:
            with self._leader.lock:
                connection = self._leader.tried()  # what a connection held that was cut is not held any more
                for name in list(self._resigned):
                    self._resigned.discard(name)
                    if self._led.pop(name, None) is connection:
                        connection.execute("SELECT pg_advisory_unlock($1)", (_key(name),))
                if self._led.get(tournament) is not connection:
                    found = connection.execute("SELECT pg_try_advisory_lock($1)", (_key(tournament),)).fetchone()
                    if found != (True,):
                        return False
                    self._led[tournament] = connection
                return True
        except (psycopg.Error, StorageError):
            return False

    def resign(self, tournament: str) -> None:
        """Let another process lead. This happens with the next look: who calls may hold any lock."""
        self._resigned.add(tournament)

    def close(self) -> None:
        """Let go of it."""
        for line in (self._leader, self._writer, self._reader, self._finder):
            line.close()


class _UndoneError(StorageError):
    """A transaction that has certainly left no trace."""


class _Line:
    """A connection that is made again when it was cut. Who uses it holds its lock."""

    def __init__(
        self, address: dict[str, Any], silent: float | None = None, lock_seconds: float = _LONG_LOCK_SECONDS
    ) -> None:
        self.lock = threading.RLock()
        self._lock_seconds = lock_seconds  # after which a statement that waits for a lock fails
        self._address = address
        self._silent = silent  # seconds without a word after which the database cuts it
        self._connection: _Connection | None = None
        self._process = os.getpid()
        self._refusal: tuple[float, str] | None = None  # until when the last one counts, and what it said
        self._tried = 0.0  # when
        self._closed = False

    @property
    def cut(self) -> bool:
        return self._connection is None or self._connection.closed

    def connected(self) -> _Connection:
        """The connection; a new one if there is none."""
        if self._process != os.getpid():
            raise StorageError(f"opened by process {self._process}, used by {os.getpid()}: open it after the fork")
        if self._closed:
            raise StorageError("this storage is closed")
        if self._connection is None or self._connection.closed:
            if self._refusal is not None and monotonic() < self._refusal[0]:
                raise psycopg.OperationalError(self._refusal[1])
            try:
                self._connection = _connect(self._address, self._silent, self._lock_seconds)
            except psycopg.Error as error:
                self._refusal = monotonic() + _PAUSE, str(error)
                raise
        return self._connection

    def tried(self, *, after: float = 0.0) -> _Connection:
        """The connection, after a look whether it is still there if it was idle for so many seconds."""
        if monotonic() >= self._tried + after:
            self.read("SELECT 1")
        self._tried = monotonic()
        return self.connected()

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that changes nothing: if the connection was cut meanwhile, on a new one."""
        connection = self.connected()
        try:
            return connection.execute(statement, values, binary=True).fetchall()
        except psycopg.Error:
            if not connection.closed:
                raise
        return self.connected().execute(statement, values, binary=True).fetchall()

    def close(self) -> None:
        self._closed = True
        if self._process == os.getpid() and self.lock.acquire(timeout=30):
            try:
                if self._connection is not None:
                    self._connection.close()
            finally:
                self.lock.release()


def _address(url: str) -> dict[str, Any]:
    """The parts of an address, with our defaults."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # its message may have the password
        raise ValueError("storage must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE, got another form") from None
    return _DEFAULTS | given | {"client_encoding": "utf8"}


def _shown(address: dict[str, Any]) -> str:
    """An address as messages have it: without a password."""
    user = f"{address['user']}@" if "user" in address else ""
    port = f":{address['port']}" if "port" in address else ""
    return f"postgresql://{user}{address.get('host', '')}{port}/{address.get('dbname', '')}"


def _connect(
    address: dict[str, Any], silent: float | None = None, lock_seconds: float = _LONG_LOCK_SECONDS
) -> _Connection:
    connection = psycopg.connect(**address, autocommit=True, cursor_factory=psycopg.RawCursor)
    try:
        connection.adapters.register_dumper(int, Int8Dumper)  # one type for all: one plan for all
        connection.execute(_SETTINGS)
        connection.execute(f"SET lock_timeout = {round(1000 * lock_seconds)}")
        if silent is not None and connection.info.server_version >= 14_00_00:
            connection.execute(f"SET idle_session_timeout = {round(1000 * silent)}")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: _Connection, url: str, *, make: bool) -> None:
    """Make the tables of a new database; refuse those of another version."""
    ((encoding, there),) = connection.execute(
        "SELECT current_setting('server_encoding'), to_regclass('rankduel.facts') IS NOT NULL"
    )
    if encoding != "UTF8":
        raise StorageError(f"{url} has the encoding {encoding}: make a database with ENCODING 'UTF8'")
    if not there:
        if not make:
            raise StorageError(f"no storage at {url}")
        _make(connection)
    schema = _schema(connection)
    if schema > SCHEMA:
        raise StorageError(f"{url} has schema {schema}, this version of rankduel reads {SCHEMA}: install a newer one")
    if schema < SCHEMA:
        raise StorageError(
            f"{url} has schema {schema}, this version of rankduel reads {SCHEMA}: run `rankduel storage upgrade`"
        )
    if connection.execute("SHOW fsync").fetchone() != ("on",):
        _log.warning("%s runs with fsync off: what is acknowledged may be lost when its machine fails", url)
    if make and connection.execute("SHOW data_checksums").fetchone() != ("on",):
        _log.warning("%s runs without data checksums: damage on its disk may stay unnoticed", url)


def _make(connection: _Connection) -> None:
    """The tables, unless another process makes them at the same moment."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {round(1000 * _LONG_LOCK_SECONDS)}")
        connection.execute("SELECT pg_advisory_xact_lock($1)", (_CREATION,))
        ((schema, there),) = connection.execute(
            "SELECT to_regnamespace('rankduel') IS NOT NULL, to_regclass('rankduel.facts') IS NOT NULL"
        )
        if there:
            return
        if not schema:
            connection.execute("CREATE SCHEMA rankduel")
        connection.execute(_TABLES)
        facts = {"schema": str(SCHEMA), "secret": secrets.token_hex(32)}
        for fact in facts.items():
            connection.execute("INSERT INTO facts VALUES ($1, $2)", fact)


def migrate(url: str, steps: Mapping[int, str]) -> tuple[int, int]:
    """Bring the tables from their schema to that of this version, each step a transaction; from which to which."""
    address = _address(url)
    shown = _shown(address)
    try:
        with _connect(address) as connection:
            connection.execute("SET statement_timeout = 0")
            ((there,),) = connection.execute("SELECT to_regclass('rankduel.facts') IS NOT NULL")
            if not there:
                raise StorageError(f"no storage at {shown}")
            before = _schema(connection)
            if before > SCHEMA:
                raise StorageError(f"{shown} has schema {before}, this version of rankduel knows {SCHEMA} at most")
            for schema in range(before, SCHEMA):
                if schema not in steps:
                    raise StorageError(f"{shown} has schema {schema}, from which there is no way to {SCHEMA}")
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock($1)", (_CREATION,))
                    if _schema(connection) == schema:  # nobody else has done it meanwhile
                        connection.execute(steps[schema].encode())
                        connection.execute("UPDATE facts SET value = $1 WHERE name = 'schema'", (str(schema + 1),))
    except psycopg.Error as error:
        raise StorageError(f"cannot upgrade {shown}: {_said(error)}") from error
    return before, SCHEMA


def _schema(connection: _Connection) -> int:
    return int(connection.execute("SELECT value FROM facts WHERE name = 'schema'").fetchall()[0][0])


@lru_cache(maxsize=1000)
def _numbered(statement: str) -> str:
    """A statement with PostgreSQL's placeholders.

    >>> _numbered("SELECT 1 % ? WHERE ?")
    'SELECT 1 % $1 WHERE $2'
    """
    number = count(1)
    return re.sub(r"\?", lambda _: f"${next(number)}", statement)


@lru_cache(maxsize=100)
def _together(statement: str) -> tuple[str, list[str]]:
    """A statement that writes one row, for many: they are its one value, as JSON, by the names of these columns.

    >>> _together("INSERT INTO keys (id, name) VALUES (?, ?)")
    ('INSERT INTO keys (id, name) SELECT id, name FROM json_populate_recordset(NULL::keys, $1)', ['id', 'name'])
    >>> print(_together("UPDATE keys SET name = ? WHERE id = ?")[0])
    UPDATE keys SET name = new.name FROM json_populate_recordset(NULL::keys, $1) AS new WHERE keys.id = new.id
    """
    if found := _INSERT.fullmatch(statement):
        insert, table, columns, rest = found.groups()
        together = f"{insert} SELECT {columns} FROM json_populate_recordset(NULL::{table}, $1){rest}"
        return together, columns.split(", ")
    if found := _UPDATE.fullmatch(statement):
        table, changes, keys = found.groups()
        changes = re.sub(r"(\w+) = \?", r"\1 = new.\1", changes)
        keys = re.sub(r"(\w+) = \?", rf"{table}.\1 = new.\1", keys)
        together = f"UPDATE {table} SET {changes} FROM json_populate_recordset(NULL::{table}, $1) AS new WHERE {keys}"
        return together, re.findall(r"(\w+) = \?", statement)
    raise ValueError(f"only for statements of one row: {statement}")


def _key(tournament: str) -> int:
    """The advisory lock of who leads a tournament."""
    return int.from_bytes(blake2b(tournament.encode(), key=b"rankduel", digest_size=8).digest(), "big", signed=True)


def _said(error: psycopg.Error) -> str:
    """What PostgreSQL says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
