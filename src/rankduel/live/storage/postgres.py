"""PostgreSQL storage, shared by any number of processes on any number of machines.

It requires the extra `postgres`, so import it only for a `postgresql://` address.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from random import random
from time import sleep
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.contract import Batch, Committed, StorageBusy
from rankduel.live.storage.postgres_connection import (
    SHORT_LOCK_SECONDS,
    Connection,
    ReconnectingConnection,
    parse_address,
    psycopg,
    public_address,
    said,
)
from rankduel.live.storage.postgres_leader import LeaderElection
from rankduel.live.storage.postgres_statements import STATEMENTS, UNLOCKED_TOURNAMENTS, with_rows
from rankduel.live.storage.postgres_tables import prepare_tables
from rankduel.live.storage.schema import text
from rankduel.live.storage.shared_statements import SECRET, BulkWrite
from rankduel.live.storage.sql import SqlStorage

__all__ = ["PostgresStorage"]

# The messages of failed attempts to connect. They contain hosts, ports, users and databases.
_CONNECTING = re.compile(
    r"(connection (failed|to server|timeout)|failed to resolve|multiple connection).*", re.I | re.S
)
_MAX_TRIES = 5  # of a transaction that certainly had no effect
_CHECK_IDLE_SECONDS = 1.0  # after this idle time, the connection is checked before use


class PostgresStorage(SqlStorage):
    """Tables in the schema `rankduel` of a database. Several processes may write to them.

    Each process has four connections: for writing, for asks, for other reads, and for the leader election. Lost
    connections are opened again. The events of a tournament are numbered under a lock on its row in `tournaments`,
    which every process takes, leader or not.
    """

    shared = True
    statements = STATEMENTS

    def __init__(self, url: str, *, own: bool = True, create: bool = True) -> None:
        super().__init__()
        address = parse_address(url)
        self.url = public_address(address)  # for messages, so without the password
        self._own = own
        self._writer = ReconnectingConnection(address, lock_seconds=SHORT_LOCK_SECONDS)
        self._ask_reader = ReconnectingConnection(address, lock_seconds=SHORT_LOCK_SECONDS)
        self._reader = ReconnectingConnection(address)
        self._election = LeaderElection(address)
        self._writing: Connection  # during a transaction
        self._pipeline: psycopg.Pipeline  # during a transaction
        self._written = self._rolled_back = False  # in this transaction
        try:
            with self._writer.lock:
                prepare_tables(self._writer.connected(), self.url, own=own, create=own and create)
            ((secret,),) = self.select(SECRET)
            self.secret = bytes.fromhex(secret)
        except psycopg.Error as error:
            self.close()
            raise StorageError(f"cannot open {self.url}: {said(error)}") from error
        except BaseException:
            self.close()
            raise

    # Writing

    def commit(self, batch: Batch) -> Committed:
        """Write all entries or none. Retry a transaction that certainly had no effect, such as after a deadlock."""
        for trial in count(1):
            try:
                return super().commit(batch)
            except _UndoneError:
                if trial == _MAX_TRIES:
                    raise
                sleep(random() * 0.01 * 2**trial)
        raise AssertionError  # not reached

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Return the tournaments whose rows no other process has locked."""
        try:
            with self.transaction(durable=False):
                return {name for (name,) in self.fetch(UNLOCKED_TOURNAMENTS, (text(sorted(tournaments)),))}
        except StorageBusy:  # a lock on the whole table
            return set()

    @contextmanager
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Iterator[None]:
        """Commit at the end, or roll back on an exception. With `durable`, wait for the disk.

        Statements are pipelined: they are sent together until a result is needed.
        """
        with self._writer.lock:
            self.check_sound()
            uncertain = self._written = self._rolled_back = False
            try:
                connection = self._writing = self._writer.checked(idle_seconds=_CHECK_IDLE_SECONDS)
                try:
                    with connection.pipeline() as self._pipeline:
                        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                        if not durable:
                            connection.execute("SET LOCAL synchronous_commit = off")
                        yield
                        uncertain = self._written  # until the response to COMMIT arrives
                        done = None if self._rolled_back else connection.execute("COMMIT")
                    if done is not None and done.statusmessage != "COMMIT":
                        raise StorageError(f"cannot write to {self.url}: the database rolled the transaction back")
                except BaseException:
                    if not connection.closed:
                        connection.execute("ROLLBACK")
                    raise
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.LockNotAvailable):
                    raise StorageBusy(f"another process holds a lock in {self.url}: {said(error)}") from error
                undone = isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure)
                kind = _UndoneError if undone or (self._writer.cut and not uncertain) else StorageError
                raise self._failed("write to", error, kind, snapshots=snapshots) from error

    def rollback(self) -> None:
        """Roll the transaction back."""
        self._writing.execute("ROLLBACK")
        self._rolled_back, self._written = True, False

    def write(self, statement: str, values: Sequence[Any]) -> None:
        """Run a statement that writes, in a transaction, without waiting for its result."""
        self._send(statement, values)

    def count_written(self, statement: str, values: Sequence[Any]) -> int:
        """Like `write`. Wait, and return the number of written rows."""
        cursor = self._send(statement, values)
        self._pipeline.sync()  # a mere flush would not start the timeout for idle transactions
        return cursor.rowcount

    def write_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> None:
        """Write any number of rows, in a transaction."""
        self._send(with_rows(write), (_as_objects(write, rows),))

    def count_written_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> int:
        """Like `write_rows`. Return the number of written rows."""
        return self.count_written(with_rows(write), (_as_objects(write, rows),))

    def _send(self, statement: str, values: Sequence[Any]) -> "psycopg.Cursor[tuple[Any, ...]]":
        self._written = True
        return self._writing.execute(statement, values)

    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Run a statement for each list of values, in a transaction. Return all rows."""
        cursors = [self._writing.execute(statement, values, binary=True) for values in given]
        self._pipeline.sync()
        return [row for cursor in cursors for row in cursor.fetchall()]

    # Reading

    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read durable data, from any thread."""
        return self._read(self._reader, statement, values, snapshots=snapshots)

    def select_recent(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read for an ask, on a connection without long reads and with a short lock timeout."""
        return self._read(self._ask_reader, statement, values)

    def _read(
        self, connection: ReconnectingConnection, statement: str, values: Sequence[Any], *, snapshots: bool = False
    ) -> list[tuple[Any, ...]]:
        try:
            with connection.lock:
                return connection.read(statement, values)
        except psycopg.Error as error:
            raise self._failed("read", error, snapshots=snapshots) from error

    def _failed(
        self, verb: str, error: psycopg.Error, kind: type[StorageError] = StorageError, *, snapshots: bool = False
    ) -> StorageError:
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            self.report_damage(said(error), snapshots=snapshots)
        return kind(f"cannot {verb} {self.url}: {said(error)}")

    def redacted(self, message: str) -> str:
        """Return a message without the address of the storage, which only operators may see."""
        return _CONNECTING.sub("no connection to the database", super().redacted(message))

    # The leader

    def leads(self, tournament: str) -> bool:
        """Whether this process is the leader of a tournament."""
        return self._own and self._election.leads(tournament)

    def resign(self, tournament: str) -> None:
        """Let another process lead a tournament."""
        self._election.resign(tournament)

    def close(self) -> None:
        """Close all connections."""
        for connection in (self._election, self._writer, self._reader, self._ask_reader):
            connection.close()


class _UndoneError(StorageError):
    """A transaction that certainly had no effect."""


def _as_objects(write: BulkWrite, rows: Sequence[Sequence[Any]]) -> str:
    """Encode rows as a JSON list of objects by column."""
    return text([dict(zip(write.columns, row, strict=True)) for row in rows])
