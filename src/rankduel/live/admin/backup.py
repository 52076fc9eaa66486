"""Backup of a SQLite storage while it is in use."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rankduel.errors import StorageError
from rankduel.live.admin.sqlite_files import check_integrity, connect_read_only, is_postgres, sqlite_file, sync_to_disk

__all__ = ["backup"]

_SESSIONS_AHEAD = 1_000_000  # added to the session numbers of the copy, so that both never issue the same duel id


def backup(url: str, to: Path) -> int:
    """Copy a SQLite storage to a new file, while it is in use. Return the size in bytes.

    The copy is consistent and checked. It gets its final name only when it is complete and durable. Its session numbers
    are far ahead of the original, so a restored copy never issues a duel id that the original issued after the backup.
    """
    if is_postgres(url):
        raise ValueError("cannot back up PostgreSQL; use pg_dump")
    source = sqlite_file(url)
    to = Path(to).absolute()
    if to.exists():
        raise StorageError(f"{to} already exists and is not overwritten; choose another file")
    part = to.with_name(f"{to.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # private: it has the secret for tickets
        with closing(connect_read_only(source)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)  # in one step: writers continue, and the copy stays consistent
            with new:
                new.execute("UPDATE tournaments SET session = session + ?", (_SESSIONS_AHEAD,))
            check_integrity(new, part)
        sync_to_disk(part)
        os.link(part, to)  # unlike a rename, this does not replace an existing file
        part.unlink()
        sync_to_disk(to.parent)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot copy {source} to {to}: {error}") from error
    return to.stat().st_size
