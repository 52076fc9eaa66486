"""Instructions per duel, counted by callgrind (Valgrind). The counts do not depend on the load of the machine."""

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import rankduel as rd

RECORDED = Path(__file__).with_name("instructions.json")
DUELS = 20_000

# Only the loop, without `simulate`, whose steps depend on the clock.
CODE = """
import sys
import rankduel as rd
from rankduel.simulation import MatrixWorld, Play
problem = rd.problems.web_search()
play = Play(rd.REGISTRY[sys.argv[1]](problem.n_arms, seed=1), MatrixWorld(problem, 1), rd.regret(problem))
play.advance(int(sys.argv[2]))
assert play.duels == int(sys.argv[2])
"""


class Record(TypedDict):
    """Contents of instructions.json."""

    problem: str
    duels: int
    versions: dict[str, str]
    instructions_per_duel: dict[str, float]


def report(*, only: list[str], record: bool, quick: bool) -> None:
    """Count, compare with the recorded counts, and record the new counts if requested or if there are none."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed; install it to count instructions")
        return
    names = [name for name in rd.REGISTRY if not only or name in only]
    duels = 500 if quick else DUELS
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # parallel runs do not change the counts
        counts = dict(zip(names, pool.map(lambda name: per_duel(name, duels), names), strict=True))
    now: Record = {
        "problem": "web_search()",
        "duels": duels,
        "versions": versions(),
        "instructions_per_duel": {name: round(count, 1) for name, count in counts.items()},
    }
    before: Record | None = json.loads(RECORDED.read_text()) if RECORDED.exists() else None
    print("\n".join(compare(now, before)))
    if not quick and (record or before is None):
        if before is not None and only:
            now["instructions_per_duel"] = before["instructions_per_duel"] | now["instructions_per_duel"]
        RECORDED.write_text(json.dumps(now, indent=2) + "\n")
        print(f"recorded in {RECORDED.name}")


def compare(now: Record, before: Record | None) -> list[str]:
    """Format the counts and their changes.

    >>> now = Record(problem="", duels=9, versions={"gcc": "13"}, instructions_per_duel={"DTS": 110.0, "RUCB": 5.0})
    >>> for line in compare(now, {**now, "versions": {"gcc": "12"}, "instructions_per_duel": {"DTS": 100.0}}):
    ...     print(line)
    gcc changed from 12 to 13, which may change the counts
    DTS                      110.0 instructions per duel    +10.0 %
    RUCB                       5.0 instructions per duel    new
    """
    old = {} if before is None else before["instructions_per_duel"]
    lines = []
    if before is not None:
        if (before["problem"], before["duels"]) != (now["problem"], now["duels"]):
            lines.append(f"cannot compare with the recorded run: {before['duels']} duels on {before['problem']}")
            old = {}
        lines += [
            f"{tool} changed from {before['versions'].get(tool, 'unknown')} to {version}, which may change the counts"
            for tool, version in now["versions"].items()
            if version != before["versions"].get(tool)
        ]
    for name, count in now["instructions_per_duel"].items():
        change = f"{100 * (count / old[name] - 1):+.1f} %" if name in old else "new"
        lines.append(f"{name:18}{count:12.1f} instructions per duel    {change}")
    return lines


def per_duel(name: str, duels: int) -> float:
    """Instructions per duel. The instructions of a run of one duel are subtracted, to exclude the start-up."""
    return (count(name, duels) - count(name, 1)) / (duels - 1)


def count(name: str, duels: int) -> int:
    """Instructions of a process that plays this number of duels."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", CODE]
    environment = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, name, str(duels)], env=environment, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise RuntimeError(f"callgrind failed on {name}:\n{done.stderr}")
    return int(collected[1])


def versions() -> dict[str, str]:
    """Versions of the tools that influence the counts."""
    compiler = shutil.which("gcc")
    command = [compiler or "false", "-dumpfullversion"]
    return {
        "gcc": subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown",
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "cython": importlib.metadata.version("cython"),
        "machine": platform.machine(),
    }
