"""A storage in one SQLite file, owned by one process at a time."""

import fcntl
import logging
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import chain, compress
from pathlib import Path
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.schema import SCHEMA, tables
from rankduel.live.storage.sql import SqlStorage
from rankduel.live.storage.sqlite_file_checks import OpenedFiles, check_pages, is_damage
from rankduel.live.storage.sqlite_wal_checks import log_damage

__all__ = ["OURS", "SqliteStorage", "lock_file"]

OURS = 0x52414E4B  # "RANK": what SQLite calls the application id
_MOMENT = 0.05  # seconds
_AT_ONCE = (1024, 256, 64, 16, 4)  # rows of an INSERT: each time, the interpreter is handed over
_NONE = {size: (None,) * size for size in _AT_ONCE}
_MAPPED = 2**32  # bytes of the file that are read in place
_SMALL_FILE = 2**26  # bytes: up to this size all pages are checked before the storage is opened, in about 0.15 s
_CHECK_INTERVAL = 86_400.0  # seconds between two checks of all pages
_TABLES = tables(id="INTEGER PRIMARY KEY", int="INTEGER", float="REAL", bytes="BLOB", clustered="WITHOUT ROWID")
_TIMEOUT = 10  # seconds to wait for other processes that write
_IDLE = 5.0  # seconds without a commit after which the log is folded into the file
_ADVICE = "Go back to a backup; or give them up, by sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"
_log = logging.getLogger("rankduel")


_inserts = cache(re.compile(r"(INSERT .* VALUES )\([?, ]+\)(.*)").fullmatch)  # a single row


@cache
def _for_many(statement: str, rows: int, given: tuple[bool, ...]) -> str:
    """A statement that inserts so many rows at once, from one that inserts a single row; what is not given is NULL.

    >>> _for_many("INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING", 2, (True, False))
    'INSERT INTO t (a, b) VALUES (?, NULL), (?, NULL) ON CONFLICT DO NOTHING'
    """
    found = _inserts(statement)
    assert found is not None
    row = ", ".join("?" if is_given else "NULL" for is_given in given)
    return f"{found[1]}{', '.join([f'({row})'] * rows)}{found[2]}"


class SqliteStorage(SqlStorage):
    """Tables in one file, with a write-ahead log that is synced at each commit.

    One process owns the file, by a lock on `FILE.lock` that ends with the process, however it ends. Others may read it
    meanwhile, with any tool, or with `own=False`, and change the API keys.

    The owner checks all pages of the file: a small file when it is opened, a large one in the background from then on,
    and both once a day. After each commit it checks that the file is still there under its name. When damage is found,
    nothing is acknowledged any more until the storage is opened again.
    """

    shared = False
    changed = "journal INDEXED BY journal_changes"  # by itself it goes through all outcomes

    def __init__(self, path: str | os.PathLike[str], *, own: bool = True) -> None:
        super().__init__()
        self.path = Path(path).absolute()
        self.url = f"sqlite:///{self.path}"
        self._reading, self._writing, self._finding = threading.Lock(), threading.RLock(), threading.Lock()
        self._found_at = 0.0  # when the finder began to read
        self._committed_at = 0.0  # when the last commit was that may be in the log only
        if not own and not self.path.exists():
            raise StorageError(f"no storage at {self.path}")
        _refuse_lone_log(self.path)
        self._closing = threading.Event()
        self._opened = ExitStack()
        self._own = own
        try:
            if own:
                self._opened.callback(os.close, lock_file(self.path))
            if (found := log_damage(Path(f"{self.path}-wal"))) is not None:  # SQLite would drop what it cannot read
                raise StorageError(f"cannot open {self.path}: {found}. {_ADVICE}")
            self._writer = self._connect()
            _prepare(self._writer, self.path)
            self._reader, self._finder = self._connect(), self._connect()
            for connection in (self._reader, self._finder):
                connection.execute("PRAGMA query_only = ON")
            ((secret,),) = self.select("SELECT value FROM facts WHERE name = 'secret'")
            self.secret = bytes.fromhex(secret)
            self._files = OpenedFiles(self.path)
            small = self.path.stat().st_size <= _SMALL_FILE
            if own and small:
                self._check_pages()
            if self.damage is not None:
                raise StorageError(f"cannot open {self.path}: {self.damage}")
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self._opened.close()
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"cannot open {self.path}: {error}") from error
        wait = _CHECK_INTERVAL if small else 0.0
        self._checker = threading.Thread(target=self._check, args=(wait,), name="rankduel page check", daemon=True)
        if own:
            self._checker.start()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False)
        self._opened.callback(connection.close)
        connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the log is on the disk
        connection.execute("PRAGMA cache_size = -65536")  # 64 MB
        connection.execute(f"PRAGMA mmap_size = {_MAPPED}")  # each commit empties the reader's cache: no copy, no cost
        return connection

    def _failed(self, verb: str, error: sqlite3.Error, *, snapshots: bool = False) -> StorageError:
        if is_damage(error):
            self.report_damage(str(error), snapshots=snapshots)
        return StorageError(f"cannot {verb} {self.path}: {error}")

    # Checks

    def _check(self, wait: float) -> None:
        while not self._closing.wait(wait):
            self._check_pages()
            wait = _CHECK_INTERVAL

    def _check_pages(self) -> None:
        try:
            found = check_pages(self.path, self._closing.is_set)
        except sqlite3.Error as error:
            if not self._closing.is_set():
                _log.warning("%s: the pages cannot be checked: %s", self.url, error)
            return
        if found.damage is not None:
            self.report_damage(found.damage)
        if found.snapshot_damage is not None:
            self.report_damage(found.snapshot_damage, snapshots=True)

    def _check_files(self) -> None:
        """Raise StorageError if the file is not there any more, or if it is damaged."""
        if not self._closing.is_set() and (change := self._files.change()) is not None:  # SQLite removes its log, too
            self.report_damage(change)
        self.check_sound()

    # Writing and reading

    @contextmanager
    def transaction(self, *, durable: bool = True, snapshots: bool = False) -> Iterator[None]:
        """Durable at its end, or not at all."""
        try:
            with self._writing:
                self._check_files()
                self._writer.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    self._writer.execute("COMMIT")
                    self._committed_at = monotonic()
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise
                self._check_files()  # again: a file that was removed during the commit is noticed before it is answered
        except sqlite3.Error as error:
            raise self._failed("write to", error, snapshots=snapshots) from error

    def write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write, in a transaction."""
        self.run_many(statement, rows)

    def run_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Write, in a transaction; how many rows have changed. Other threads run while it inserts many rows at once.

        A None is the slowest of all values: a column that has no others is not handed over.
        """
        changed = start = 0
        for size in _AT_ONCE if _inserts(statement) else ():
            while start + size <= len(rows):
                columns = list(zip(*rows[start : start + size], strict=True))
                given = tuple(column != _NONE[size] for column in columns)
                values = list(chain.from_iterable(zip(*compress(columns, given), strict=True)))
                changed += self._writer.execute(_for_many(statement, size, given), values).rowcount
                start += size
        if start < len(rows):
            changed += self._writer.executemany(statement, rows[start:]).rowcount
        return changed

    def fetch_each(self, statement: str, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Read or write, in a transaction."""
        return [row for values in given for row in self._writer.execute(statement, values).fetchall()]

    def select(self, statement: str, values: Sequence[Any] = (), *, snapshots: bool = False) -> list[tuple[Any, ...]]:
        """Read what is durable, from any thread."""
        try:
            with self._reading:
                return self._reader.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._failed("read", error, snapshots=snapshots) from error

    def look_up(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read what was durable a moment ago: to see the last commit each time costs many times as much."""
        try:
            with self._finding:
                if monotonic() - self._found_at > _MOMENT:
                    self._rest()
                    self._finder.execute("BEGIN")
                    self._found_at = monotonic()
                return self._finder.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._failed("read", error) from error

    def rest(self, *, at_once: bool = False) -> None:
        """Let go of what is held for reading, if it is old, so that the log can be folded into the file."""
        with self._finding:
            with suppress(StorageError):  # it is said at the next commit, too
                self._check_files()
            try:
                if at_once or monotonic() - self._found_at > _MOMENT:
                    self._rest()
            except sqlite3.Error as error:
                raise self._failed("read", error) from error
        if self._committed_at and monotonic() - self._committed_at > _IDLE and self.damage is None:
            self._fold_log()

    def _fold_log(self) -> None:
        """Fold the log into the file and empty it while nobody writes: no damage of the log can undo it then."""
        with self._writing, self._reading, self._finding:
            if self._closing.is_set():
                return
            self._committed_at = monotonic()  # if it fails, it is tried again after as long a time
            try:
                self._rest()
                self._writer.execute("PRAGMA busy_timeout = 0")  # other processes that read are not waited for
                try:
                    ((busy, _, _),) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    self._writer.execute(f"PRAGMA busy_timeout = {1000 * _TIMEOUT}")
            except sqlite3.Error as error:
                raise self._failed("write to", error) from error
            if not busy:
                self._committed_at = 0.0

    def _rest(self) -> None:
        self._found_at = 0.0
        if not self._closing.is_set() and self._finder.in_transaction:
            self._finder.execute("COMMIT")

    def leads(self, tournament: str) -> bool:
        """The owner of the file does."""
        return self._own

    def close(self) -> None:
        """Fold the log into the file and let go of it."""
        self._closing.set()
        if self._own:
            self._checker.join(timeout=5)  # a check of a large file cannot be ended at once
        # To close a connection that another thread uses ends the process. The garbage collector may close a storage
        # in the very thread that uses it: so this does not wait for ever.
        locks = [lock for lock in (self._writing, self._reading, self._finding) if lock.acquire(timeout=5)]
        try:
            self._opened.close()
        finally:
            for lock in locks:
                lock.release()


def lock_file(path: Path) -> int:
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


def _refuse_lone_log(path: Path) -> None:
    """Refuse a log without its file: SQLite would delete the log and begin a new file."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size and not (path.exists() and path.stat().st_size):
        raise StorageError(
            f"{path} is missing or empty, but its log {log.name} is there: bring the file or a backup back, "
            "or remove the log to begin anew"
        )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file; refuse one that is not ours, or of another version."""
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    (found,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not found:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; {_TABLES}; INSERT INTO facts VALUES ('secret', '{secrets.token_hex(32)}');"
            f"PRAGMA application_id = {OURS}; PRAGMA user_version = {SCHEMA}; COMMIT;"
        )
        os.chmod(path, 0o600)  # the secret that signs tickets is in it
        _sync_folder(path)
    elif ours != OURS:
        raise StorageError(f"{path} is a SQLite file, but not one of rankduel")
    elif schema > SCHEMA:
        raise StorageError(f"{path} has schema {schema}, this version of rankduel reads {SCHEMA}: install a newer one")
    elif schema < SCHEMA:
        raise StorageError(
            f"{path} has schema {schema}, this version of rankduel reads {SCHEMA}: run `rankduel storage upgrade`"
        )


def _sync_folder(path: Path) -> None:
    """Make the name of a new file durable, too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
