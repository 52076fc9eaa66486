"""Backup of a SQLite storage while it is in use."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rankduel.errors import StorageError
from rankduel.live.admin.sqlite_files import check_integrity, connect_read_only, is_postgres, sqlite_file, sync_to_disk

__all__ = ["backup"]

_SESSIONS_AHEAD = 1_000_000  # of the copy: it never issues an id that the original issues, too


def backup(url: str, to: Path) -> int:
    """Copy a SQLite storage to a new file, while it is in use; its size in bytes.

    The copy is the storage as it was at one moment, is checked, and has its name only when it is whole and durable. Its
    sessions are far ahead: no id of a duel that the original gives after this moment is given again by the copy.
    """
    if is_postgres(url):
        raise ValueError("a PostgreSQL storage is copied by pg_dump")
    source = sqlite_file(url)
    to = Path(to).absolute()
    if to.exists():
        raise StorageError(f"{to} is there already: a backup overwrites nothing")
    part = to.with_name(f"{to.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # the secret that signs tickets is in it
        with closing(connect_read_only(source)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)  # all in one step: writers go on meanwhile, and this sees none of them
            with new:
                new.execute("UPDATE tournaments SET session = session + ?", (_SESSIONS_AHEAD,))
            check_integrity(new, part)
        sync_to_disk(part)
        os.link(part, to)  # unlike a rename, this replaces nothing
        part.unlink()
        sync_to_disk(to.parent)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot copy {source} to {to}: {error}") from error
    return to.stat().st_size
