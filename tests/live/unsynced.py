"""A storage that does not wait for the disk: for tests of anything else."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

__all__ = ["unsynced"]


class _Unsynced(sqlite3.Connection):
    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(statement.replace("synchronous = FULL", "synchronous = OFF"), *values)


@contextmanager
def unsynced() -> Iterator[None]:
    """In here, SQLite files are not synced."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        return connect(*arguments, **options, factory=_Unsynced)

    with patch.object(sqlite3, "connect", connected):
        yield
