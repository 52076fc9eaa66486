"""Store of finished runs: one small file per run, written atomically.

`execute` in engine.py reads it before it computes anything, so an interrupted experiment continues where it stopped.
"""

import hashlib
import json
import os
import secrets
from pathlib import Path

import numpy as np

from rankduel.lab.plan import Unit
from rankduel.simulation import Run

__all__ = ["Store", "write_whole"]

_SCHEMA = 2


class Store:
    """Finished runs by key, in `folder/runs/<key>.json`.

    A file appears under its name only when it is complete. So you may kill a process at any time, and several processes
    may share a folder: at worst, they compute the same run twice, with the same result. Each file has a checksum. A
    damaged file counts as missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Create the folder, so that an invalid path fails before anything is computed."""
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)

    def path(self, unit: Unit) -> Path:
        """The path of the run of a unit."""
        return self.folder / "runs" / f"{unit.key}.json"

    def read(self, unit: Unit) -> Run | None:
        """Read the run of a unit. None if it is missing or damaged."""
        try:
            stored = json.loads(self.path(unit).read_bytes())
            record = stored["record"]
            intact = stored["schema"] == _SCHEMA and stored["sha256"] == _digest(record)
        except (FileNotFoundError, ValueError, LookupError, TypeError, RecursionError):
            return None
        if not intact or record["unit"] != unit.content:
            return None
        run = record["run"]
        return Run(
            **run
            | {
                "checkpoints": np.array(unit.checkpoints, np.int64),
                "regret": np.array(run["regret"], np.float64),
                "measures": {name: np.array(values) for name, values in run["measures"].items()},
            }
        )

    def write(self, unit: Unit, run: Run) -> None:
        """Store a run. There is no fsync: a file that a power cut damages fails its checksum and is computed again."""
        content = {name: value for name, value in vars(run).items() if name != "checkpoints"}  # stored in the unit
        measures = {name: values.tolist() for name, values in run.measures.items()}
        record = {"unit": unit.content, "run": content | {"regret": run.regret.tolist(), "measures": measures}}
        write_whole(
            self.path(unit),
            json.dumps({"schema": _SCHEMA, "sha256": _digest(record), "record": record}).encode(),
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: readers see either the old or the new content, even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _digest(record: object) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
