"""Migration of a storage to the schema of this version."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rankduel.errors import StorageError
from rankduel.live.admin.sqlite_files import check_integrity, is_postgres, sqlite_file
from rankduel.live.storage.schema import SCHEMA, wrong_schema
from rankduel.live.storage.sqlite import OURS, lock_file

__all__ = ["MIGRATIONS", "upgrade"]

_TOLD_TO_RESOLVED = """
DROP INDEX journal_changes;
UPDATE journal SET kind = 'resolved' WHERE kind = 'told';
CREATE INDEX journal_changes ON journal (tournament, number) WHERE kind <> 'resolved';
UPDATE duels SET state = 'resolved' WHERE state = 'told';
UPDATE counters SET name = 'resolved' WHERE name = 'told'
"""
_INDEX_FOR_RETENTION = """
CREATE INDEX duels_unpruned ON duels (tournament, issued)
    WHERE state NOT IN ('issued', 'shown') AND coalesce(page, 'none') <> ''
"""
# SQL from each schema to the next one, for both databases: {1: {"sqlite": "ALTER ...", "postgres": "..."}}
MIGRATIONS: dict[int, dict[str, str]] = {
    1: {"sqlite": _TOLD_TO_RESOLVED, "postgres": _TOLD_TO_RESOLVED},
    2: {"sqlite": _INDEX_FOR_RETENTION, "postgres": _INDEX_FOR_RETENTION},
}


def upgrade(url: str) -> tuple[int, int]:
    """Migrate a storage to the schema of this version. Return the schemas before and after. No process may use it.

    Each step is one transaction, so a failure leaves the storage at the schema before or after a step.
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
        raise StorageError(f"{path} is a SQLite file of another application; choose another file")
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    if before > SCHEMA:
        raise StorageError(wrong_schema(str(path), before, SCHEMA))
    for schema in range(before, SCHEMA):
        if schema not in MIGRATIONS:
            raise StorageError(f"cannot upgrade {path}: no migration from schema {schema} to {SCHEMA}")
        check_integrity(connection, path)
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[schema]['sqlite']}; PRAGMA user_version = {schema + 1}; COMMIT;"
        )
    return before, SCHEMA
