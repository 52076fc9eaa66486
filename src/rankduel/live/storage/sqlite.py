"""SQLite storage: one file, owned by one process at a time."""

import fcntl
import logging
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, compress
from pathlib import Path
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.contract import StorageInUse
from rankduel.live.storage.schema import SCHEMA, no_storage, tables, wrong_schema
from rankduel.live.storage.shared_statements import SECRET, BulkWrite
from rankduel.live.storage.sql import SqlStorage
from rankduel.live.storage.sqlite_file_checks import OpenedFiles, check_pages, is_damage
from rankduel.live.storage.sqlite_statements import STATEMENTS, with_rows
from rankduel.live.storage.sqlite_wal_checks import log_damage

__all__ = ["OURS", "SqliteStorage", "lock_file"]

OURS = 0x52414E4B  # "RANK": our application id in the SQLite header
_RECENT_READ_SECONDS = 0.05  # maximum age of the data that `select_recent` reads
_ROWS_PER_STATEMENT = (1024, 256, 64, 16, 4)  # the largest that fits: each statement costs as much as 3 rows
_ONLY_NONE = {rows: (None,) * rows for rows in _ROWS_PER_STATEMENT}
_PLACEHOLDERS = ("1", "2", "3", "4", "5", "6")  # the names of $1, $2, ...
_MAPPED_BYTES = 2**32  # of the file, read through memory mapping
_SMALL_FILE_BYTES = 2**26  # up to this size, all pages are checked on opening, in about 0.15 s
_CHECK_INTERVAL_SECONDS = 86_400.0  # between two checks of all pages
_TABLES = tables(
    id="INTEGER PRIMARY KEY", int="INTEGER", float="REAL", bytes="BLOB", text="TEXT", clustered="WITHOUT ROWID"
)
_LOCK_TIMEOUT_SECONDS = 10  # how long to wait for other processes that write
_CHECKPOINT_IDLE_SECONDS = 5.0  # without a commit, then the write-ahead log is written into the file and truncated
_ADVICE = "restore a backup, or give these commits up by sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"
_log = logging.getLogger("rankduel")


class SqliteStorage(SqlStorage):
    """Tables in one file, with a write-ahead log that is synced at each commit.

    One process owns the file by a lock on `FILE.lock`, which ends with the process. Other processes may read the file
    with any tool. With `own=False` they may also change the API keys.

    The owner checks all pages of the file: a small file on opening, a large file in the background, and both once a
    day. After each commit it checks that the file still exists under its name. Once damage is found, nothing is
    acknowledged until the storage is opened again.
    """

    shared = False
    statements = STATEMENTS

    def __init__(self, path: str | os.PathLike[str], *, own: bool = True, create: bool = True) -> None:
        super().__init__()
        self.path = Path(path).absolute()
        self.url = f"sqlite:///{self.path}"
        self._reading, self._writing, self._reading_recent = threading.Lock(), threading.RLock(), threading.Lock()
        self._recent_since = 0.0  # when the read transaction of `select_recent` began
        self._committed_at = 0.0  # time of the last commit that may be in the log only; 0 if there is none
        _refuse_lone_log(self.path)
        create = create and own
        if not create and not (self.path.exists() and self.path.stat().st_size):
            raise StorageError(no_storage(str(self.path)))
        self._closing = threading.Event()
        self._opened = ExitStack()
        self._own = own
        try:
            if own:
                self._opened.callback(os.close, lock_file(self.path))
            if (damage := log_damage(Path(f"{self.path}-wal"))) is not None:  # SQLite would drop the damaged commits
                raise StorageError(f"cannot open {self.path}: {damage}; {_ADVICE}")
            self._writer = self._connect()
            _prepare(self._writer, self.path, create=create)
            self._reader, self._recent_reader = self._connect(), self._connect()
            for connection in (self._reader, self._recent_reader):
                connection.execute("PRAGMA query_only = ON")
            ((secret,),) = self.select(SECRET)
            self.secret = bytes.fromhex(secret)
            self._files = OpenedFiles(self.path)
            small = self.path.stat().st_size <= _SMALL_FILE_BYTES
            if own and small:
                self._check_pages()
            if self.damage is not None:
                raise StorageError(f"cannot open {self.path}: {self.damage}; restore a backup")
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self._opened.close()
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"cannot open {self.path}: {error}") from error
        wait = _CHECK_INTERVAL_SECONDS if small else 0.0
        self._checker = threading.Thread(target=self._check, args=(wait,), name="rankduel page check", daemon=True)
        if own:
            self._checker.start()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._opened.callback(connection.close)
        connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the log is on the disk
        connection.execute("PRAGMA secure_delete = ON")  # removed pages and clients are overwritten in the file
        connection.execute("PRAGMA cache_size = -65536")  # 64 MB
        # Each commit empties the cache of readers. With memory mapping there is nothing to copy again.
        connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
        return connection

    def _failed(self, verb: str, error: sqlite3.Error, *, snapshots: bool = False) -> StorageError:
        if is_damage(error):
            self.report_damage(str(error), snapshots=snapshots)
        return StorageError(f"cannot {verb} {self.path}: {error}")

    def redacted(self, message: str) -> str:
        """Return a message without the address of the storage, which only operators may see."""
        return super().redacted(message).replace(str(self.path), "the storage")

    # Checks

    def _check(self, wait: float) -> None:
        while not self._closing.wait(wait):
            self._check_pages()
            wait = _CHECK_INTERVAL_SECONDS

    def _check_pages(self) -> None:
        try:
            check = check_pages(self.path, self._closing.is_set)
        except sqlite3.Error as error:
            if not self._closing.is_set():
                _log.warning("%s: cannot check the pages: %s", self.url, error)
            return
        if check.damage is not None:
            self.report_damage(check.damage)
        if check.snapshot_damage is not None:
            self.report_damage(check.snapshot_damage, snapshots=True)

    def _check_files(self) -> None:
        """Raise StorageError if the file was removed or replaced, or is damaged."""
        if not self._closing.is_set() and (change := self._files.change()) is not None:  # closing removes the log
            self.report_damage(change)
        self.check_sound()

    # Writing and reading

    @contextmanager
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Iterator[None]:
        """Commit durably at the end, or roll back on an exception."""
        try:
            with self._writing:
                self._check_files()
                self._writer.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    if self._writer.in_transaction:  # unless it was rolled back
                        self._writer.execute("COMMIT")
                        self._committed_at = monotonic()
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise
                self._check_files()  # again: a file removed during the commit must not be acknowledged
        except sqlite3.Error as error:
            raise self._failed("write to", error, snapshots=snapshots) from error

    def rollback(self) -> None:
        """Roll the transaction back."""
        self._writer.execute("ROLLBACK")

    def write(self, statement: str, values: Sequence[Any]) -> None:
        """Run a statement that writes, in a transaction."""
        self.count_written(statement, values)

    def count_written(self, statement: str, values: Sequence[Any]) -> int:
        """Like `write`. Return the number of written rows."""
        return self._writer.execute(statement, _by_placeholder(values)).rowcount

    def write_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> None:
        """Write any number of rows, in a transaction."""
        self.count_written_rows(write, rows)

    def count_written_rows(self, write: BulkWrite, rows: Sequence[Sequence[Any]]) -> int:
        """Like `write_rows`. Return the number of written rows. Other threads run while a statement writes many rows.

        None is slower to bind than other values. So the statement has a literal NULL for columns with only None.
        """
        written = start = 0
        for size in _ROWS_PER_STATEMENT:
            while start + size <= len(rows):
                columns = list(zip(*rows[start : start + size], strict=True))
                given = tuple(column != _ONLY_NONE[size] for column in columns)
                values = list(chain.from_iterable(zip(*compress(columns, given), strict=True)))
                written += self._writer.execute(with_rows(write, size, given), values).rowcount
                start += size
        if start < len(rows):
            single = with_rows(write, 1, (True,) * len(write.columns))
            written += self._writer.executemany(single, rows[start:]).rowcount
        return written

    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Run a statement for each list of values, in a transaction. Return all rows."""
        return [row for values in given for row in self._writer.execute(statement, _by_placeholder(values)).fetchall()]

    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read durable data, from any thread."""
        try:
            with self._reading:
                return self._reader.execute(statement, _by_placeholder(values)).fetchall()
        except sqlite3.Error as error:
            raise self._failed("read", error, snapshots=snapshots) from error

    def select_recent(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read for an ask, in a read transaction of up to 0.05 s. Seeing each commit at once would cost much more."""
        try:
            with self._reading_recent:
                if monotonic() - self._recent_since > _RECENT_READ_SECONDS:
                    self._end_recent_read()
                    self._recent_reader.execute("BEGIN")
                    self._recent_since = monotonic()
                return self._recent_reader.execute(statement, _by_placeholder(values)).fetchall()
        except sqlite3.Error as error:
            raise self._failed("read", error) from error

    def refresh_queries(self) -> None:
        """Let the next `duels_of` see everything that is durable now."""
        try:
            with self._reading_recent:
                self._end_recent_read()
        except sqlite3.Error as error:
            raise self._failed("read", error) from error

    def _end_recent_read(self) -> None:
        self._recent_since = 0.0
        if not self._closing.is_set() and self._recent_reader.in_transaction:
            self._recent_reader.execute("COMMIT")

    def run_maintenance(self) -> None:
        """Check that the file exists, end an old read transaction, and checkpoint the log if there are no writes."""
        with suppress(StorageError):  # the next commit raises it too
            self._check_files()
        if monotonic() - self._recent_since > _RECENT_READ_SECONDS:  # it would block a checkpoint
            self.refresh_queries()
        idle = monotonic() - self._committed_at
        if self._committed_at and idle > _CHECKPOINT_IDLE_SECONDS and self.damage is None:
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Write the log into the file and truncate it, so that damage of the log cannot undo commits."""
        with self._writing, self._reading, self._reading_recent:
            if self._closing.is_set():
                return
            self._committed_at = monotonic()  # after a failure, wait as long again
            try:
                self._end_recent_read()
                self._writer.execute("PRAGMA busy_timeout = 0")  # do not wait for readers in other processes
                try:
                    ((busy, _, _),) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    self._writer.execute(f"PRAGMA busy_timeout = {1000 * _LOCK_TIMEOUT_SECONDS}")
            except sqlite3.Error as error:
                raise self._failed("write to", error) from error
            if not busy:
                self._committed_at = 0.0

    def leads(self, tournament: str) -> bool:
        """Whether this process owns the file."""
        return self._own

    def close(self) -> None:
        """Write the log into the file and close it."""
        self._closing.set()
        if self._own:
            self._checker.join(timeout=5)  # a check of a large file cannot be stopped at once
        # Closing a connection that another thread uses would crash the process, so wait for the locks. The garbage
        # collector may close a storage in the thread that holds a lock, so do not wait longer than 5 s.
        locks = [lock for lock in (self._writing, self._reading, self._reading_recent) if lock.acquire(timeout=5)]
        try:
            self._opened.close()
        finally:
            for lock in locks:
                lock.release()


def _by_placeholder(values: Sequence[Any]) -> dict[str, Any]:
    """Return values by the names of their placeholders: for SQLite, $1 is a name."""
    return dict(zip(_PLACEHOLDERS, values))  # noqa: B905 - most statements have fewer values


def lock_file(path: Path) -> int:
    """Take the owner's lock of a storage file. Return it as an open file descriptor."""
    lock_path = path.with_name(f"{path.name}.lock")
    try:
        lock = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(f"cannot open {lock_path}: {error.strerror}") from error
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unlike with flock, a forked process does not share it
    except OSError:
        owner = os.read(lock, 20).decode(errors="replace").strip() or "?"
        os.close(lock)
        raise StorageInUse(
            f"{path} is in use by process {owner}; stop that process, or use the http address of its service"
        ) from None
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _refuse_lone_log(path: Path) -> None:
    """Raise StorageError for a log without its file: SQLite would delete the log and create a new file."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size and not (path.exists() and path.stat().st_size):
        raise StorageError(
            f"{path} is missing or empty, but its log {log.name} exists; restore the file or a backup, "
            "or remove the log to start with an empty storage"
        )


def _prepare(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Create the tables of a new file. Raise StorageError for a file of another application or schema."""
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not n_tables and not create:
        raise StorageError(no_storage(str(path)))
    if not n_tables:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; {_TABLES}; INSERT INTO facts VALUES ('secret', '{secrets.token_hex(32)}');"
            f"PRAGMA application_id = {OURS}; PRAGMA user_version = {SCHEMA}; COMMIT;"
        )
        os.chmod(path, 0o600)  # private: it has the secret for tickets
        _sync_folder(path)
    elif ours != OURS:
        raise StorageError(f"{path} is a SQLite file of another application; choose another file")
    elif schema != SCHEMA:
        raise StorageError(wrong_schema(str(path), schema, SCHEMA))


def _sync_folder(path: Path) -> None:
    """Sync the folder, so that the name of a new file is durable too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
