"""Migration of a storage to the schema of this version."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rankduel.errors import StorageError
from rankduel.live.admin.sqlite_files import check_integrity, is_postgres, sqlite_file
from rankduel.live.storage.schema import SCHEMA
from rankduel.live.storage.sqlite import OURS, lock_file

__all__ = ["MIGRATIONS", "upgrade"]

# SQL that leads from a schema to the next one, for both databases: {1: {"sqlite": "ALTER ...", "postgres": "..."}}
_TOLD_TO_RESOLVED = """
DROP INDEX journal_changes;
UPDATE journal SET kind = 'resolved' WHERE kind = 'told';
CREATE INDEX journal_changes ON journal (tournament, number) WHERE kind <> 'resolved';
UPDATE duels SET state = 'resolved' WHERE state = 'told';
UPDATE counters SET name = 'resolved' WHERE name = 'told'
"""
MIGRATIONS: dict[int, dict[str, str]] = {1: {"sqlite": _TOLD_TO_RESOLVED, "postgres": _TOLD_TO_RESOLVED}}


def upgrade(url: str) -> tuple[int, int]:
    """Bring a storage that nobody uses to the schema of this version; from which to which.

    Each step is one transaction: whatever happens, the storage has the schema before it or the one after it.
    """
    if is_postgres(url):
        from rankduel.live.storage.postgres_tables import migrate  # noqa: PLC0415 - needs an extra

        return migrate(url, {schema: steps["postgres"] for schema, steps in MIGRATIONS.items()})
    path = sqlite_file(url)
    lock = lock_file(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return _migrate(connection, path)
    except sqlite3.Error as error:
        raise StorageError(f"cannot upgrade {path}: {error}") from error
    finally:
        os.close(lock)


def _migrate(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    connection.execute("PRAGMA synchronous = FULL")
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    if ours != OURS:
        raise StorageError(f"{path} is a SQLite file, but not one of rankduel")
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    if before > SCHEMA:
        raise StorageError(f"{path} has schema {before}, this version of rankduel knows {SCHEMA} at most")
    for schema in range(before, SCHEMA):
        if schema not in MIGRATIONS:
            raise StorageError(f"{path} has schema {schema}, from which there is no way to {SCHEMA}")
        check_integrity(connection, path)
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[schema]['sqlite']}; PRAGMA user_version = {schema + 1}; COMMIT;"
        )
    return before, SCHEMA
