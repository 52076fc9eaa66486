"""Prune old duels, erase a client, and shrink a SQLite file. On PostgreSQL, the storage may be in use."""

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from time import monotonic
from time import time as now
from typing import NamedTuple

from rankduel.errors import StorageError
from rankduel.live.admin.sqlite_files import is_postgres, sqlite_file
from rankduel.live.read_only import check_known
from rankduel.live.runtime.retention import erase_client, forget_queries, prune_batch, prune_limit
from rankduel.live.storage.contract import Storage, StorageInUse, storage_at
from rankduel.live.storage.sql import SqlStorage
from rankduel.live.storage.sqlite import lock_file
from rankduel.live.storage.writer import Writer

__all__ = ["PruneProgress", "count_old", "erase", "prune", "vacuum"]


class PruneProgress(NamedTuple):
    """How many duels are pruned, of all tournaments, and how long it took."""

    done: int
    total: int
    seconds: float


def count_old(url: str, older_than: float, tournament: str | None = None, *, query_ids: bool = False) -> dict[str, int]:
    """Return the number of duels that `prune` would prune, by tournament. The storage may be in use."""
    _check_exists(url)
    with closing(storage_at(url, own=False)) as storage:
        _read_long(storage)
        return _count(storage, _limits(storage, older_than, tournament), query_ids=query_ids)


def prune(
    url: str, older_than: float, tournament: str | None = None, *, query_ids: bool = False
) -> Generator[PruneProgress, None, None]:
    """Remove the pages, signals and clients of duels that were issued more than `older_than` seconds ago.

    With `query_ids`, remove their query ids, too, also of duels that were pruned without it before. Open duels are left
    alone. Each batch is a transaction, so you can stop at any time: the next call continues.
    """
    began, done = monotonic(), 0
    with _opened(url, "let its service prune: set retention_days in the table [service] of rankduel.toml") as writer:
        limits = _limits(writer.storage, older_than, tournament)
        total = sum(_count(writer.storage, limits, query_ids=query_ids).values())
        yield PruneProgress(0, total, 0.0)
        for name, issued_before in limits.items():
            for pruned in _batches(writer, name, issued_before, query_ids=query_ids):
                done += pruned
                yield PruneProgress(done, max(done, total), monotonic() - began)
        if done < total:  # a service pruned meanwhile
            yield PruneProgress(done, done, monotonic() - began)


def erase(
    url: str, client_id: str, tournament: str | None = None, *, reason: str, by: str
) -> Iterator[tuple[str, int]]:
    """Erase the data of a client. Yield the name of each tournament, and the number of duels of the client there."""
    with _opened(url, "use the http address of its service") as writer:
        for name in _names(writer.storage, tournament):
            yield name, erase_client(writer, name, client_id, reason=reason, by=by)


def vacuum(url: str) -> tuple[int, int]:
    """Write a SQLite file anew, without unused pages. Return its size in bytes before and after.

    No process may use it. The disk must have room for a copy.
    """
    if is_postgres(url):
        raise ValueError("cannot shrink PostgreSQL tables; autovacuum lets new rows use their space, see VACUUM FULL")
    path = sqlite_file(url)
    before = path.stat().st_size
    lock = lock_file(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise StorageError(f"cannot shrink {path}: {error}") from error
    finally:
        os.close(lock)
    return before, path.stat().st_size


@contextmanager
def _opened(url: str, instead: str) -> Iterator[Writer]:
    """Open an existing storage for writing. `instead` says what to do if a service owns it."""
    _check_exists(url)
    try:
        writer = Writer(storage_at(url))
    except StorageInUse as error:
        raise StorageInUse(f"{str(error).partition(';')[0]}; stop that process, or {instead}") from None
    try:
        _read_long(writer.storage)
        yield writer
    finally:
        writer.close()


def _check_exists(url: str) -> None:
    if not is_postgres(url):
        sqlite_file(url)


def _read_long(storage: Storage) -> None:
    """Let a read on PostgreSQL take as long as it needs: millions of rows are counted."""
    if storage.shared and isinstance(storage, SqlStorage):
        storage.select("SELECT set_config('statement_timeout', '0', false)")


def _names(storage: Storage, tournament: str | None) -> list[str]:
    if tournament is None:
        return storage.names()
    check_known(tournament, storage)
    return [tournament]


def _limits(storage: Storage, older_than: float, tournament: str | None) -> dict[str, float]:
    """Return the time before which duels are old, by tournament."""
    time = now()
    return {name: prune_limit(storage, name, older_than, time) for name in _names(storage, tournament)}


def _batches(writer: Writer, name: str, issued_before: float, *, query_ids: bool) -> Iterator[int]:
    """Prune the duels of a tournament in batches. Yield the number of duels of each."""
    while pruned := prune_batch(writer, name, issued_before, query_ids=query_ids):
        yield pruned
    if query_ids:
        yield from forget_queries(writer, name, issued_before)


def _count(storage: Storage, limits: dict[str, float], *, query_ids: bool) -> dict[str, int]:
    counts = {name: storage.count_old_duels(name, issued_before) for name, issued_before in limits.items()}
    if query_ids:
        for name, issued_before in limits.items():
            counts[name] += storage.count_pruned_with_query(name, issued_before)
    return counts
