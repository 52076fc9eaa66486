"""Find, open, check and sync SQLite files, for backup, verification and migration."""

import os
import sqlite3
from pathlib import Path

from rankduel.errors import StorageError

__all__ = ["check_integrity", "connect_read_only", "is_postgres", "sqlite_file", "sync_to_disk"]


def is_postgres(url: object) -> bool:
    return isinstance(url, str) and url.startswith(("postgresql://", "postgres://"))


def sqlite_file(url: str) -> Path:
    """Return the file of an existing SQLite storage."""
    scheme, _, path = url.partition(":///") if isinstance(url, str) else ("", "", "")
    if scheme != "sqlite" or not path:
        raise ValueError(f"storage must be sqlite:///FILE, got {url!r}")
    file = Path(path).absolute()
    if not file.exists():
        raise StorageError(f"no storage at {file}; check the address")
    return file


def connect_read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)


def check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    ((result,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if result != "ok":
        raise StorageError(f"{path} is damaged: {result}")


def sync_to_disk(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
