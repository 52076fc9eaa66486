"""Collections on disk, ready to be mapped into memory: the second load of a large file takes seconds.

An entry is one file: a line that names the schema, a line of JSON, and the arrays, each at a multiple of 64 bytes. It
appears under its name when it is complete. The fingerprint of the collection stands in it, so that damage is noticed.
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

SCHEMA = 1  # one more when what a reader makes of a file changes, or the layout below

_FIRST = f"rankduel collection {SCHEMA}\n".encode()
_ARRAYS = ("offsets", "grades", "order", "start")
_SECONDS_PER_DAY = 86_400


def entry_path(cache: bool | str | os.PathLike[str], content: object) -> Path | None:
    """Where the collection made from this content is kept: below `cache`, or $RANKDUEL_CACHE, or ~/.cache/rankduel.

    None if no folder is to be used: the cache is off, or there is no home.
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
    """The sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Collection | None:
    """The collection of an entry, its tables mapped into memory; None if it is missing or damaged."""
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
    """Keep a collection, whole or not at all. Where it cannot be kept (a read-only folder, a full disk), it is not."""
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
    """Remove the drafts of processes that were killed: nobody takes a day to write one."""
    for draft in folder.glob(".*.collection.*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _SECONDS_PER_DAY:
                draft.unlink()
