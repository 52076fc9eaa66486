"""Disk cache of collections. Entries are mapped into memory, so that the second load of a large file is fast.

An entry is one file: a line with the schema, a line of JSON, and the arrays, each aligned to 64 bytes. It is written to
a draft and renamed when it is complete. The JSON includes the fingerprint of the collection, which detects damage.
"""

import hashlib
import json
import mmap
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rankduel.datasets.collection import Collection

__all__ = ["digest_of", "entry_path", "read", "write"]

SCHEMA = 1  # increase it when the layout of entries changes, or the collection that is read from a file

_FIRST = f"rankduel collection {SCHEMA}\n".encode()
_ARRAYS = ("offsets", "grades", "order", "start")
_SECONDS_PER_DAY = 86_400


def entry_path(cache: bool | str | os.PathLike[str], content: object) -> Path | None:
    """Path of the cache entry for this content, in the folder `cache`, $RANKDUEL_CACHE or ~/.cache/rankduel.

    None if the cache is off, or if there is no home folder.
    """
    if cache is False:
        return None
    key = hashlib.sha256(json.dumps([SCHEMA, content]).encode()).hexdigest()
    if cache is True:
        try:
            folder = Path(os.environ.get("RANKDUEL_CACHE") or Path.home() / ".cache" / "rankduel")
        except RuntimeError:
            return None
    else:
        folder = Path(cache)
    return folder / f"{key}.collection"


def digest_of(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Collection | None:
    """Read an entry, with its tables mapped into memory. None if it is missing or damaged."""
    try:
        with path.open("rb") as file:
            if file.readline(len(_FIRST)) != _FIRST:
                return None
            header = json.loads(file.readline())
            begin = file.tell()
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        arrays = {}
        for name, (kind, count) in header["arrays"].items():
            begin = _aligned(begin)
            arrays[name] = np.frombuffer(content, np.dtype(kind).newbyteorder("="), count, begin)
            begin += arrays[name].nbytes
        collection = Collection(queries=tuple(header["queries"]), rankers=tuple(header["rankers"]), **arrays)
        return collection if collection.fingerprint == header["fingerprint"] else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def write(path: Path, collection: Collection) -> None:
    """Write an entry atomically. Do nothing if it cannot be written (read-only folder, full disk)."""
    header = {
        "queries": collection.queries,
        "rankers": collection.rankers,
        "arrays": {name: _described(getattr(collection, name)) for name in _ARRAYS},
        "fingerprint": collection.fingerprint,
    }
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        with draft.open("wb") as file:
            file.write(_FIRST + json.dumps(header).encode() + b"\n")
            for name in _ARRAYS:
                file.seek(_aligned(file.tell()))
                file.write(memoryview(getattr(collection, name)).cast("B"))
        os.replace(draft, path)
    except OSError:
        pass
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _described(array: np.ndarray[Any, Any]) -> tuple[str, int]:
    return array.dtype.name, len(array)


def _aligned(place: int) -> int:
    return -(-place // 64) * 64


def _sweep(folder: Path) -> None:
    """Remove drafts that are older than a day: their processes were killed."""
    for draft in folder.glob(".*.collection.*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _SECONDS_PER_DAY:
                draft.unlink()
