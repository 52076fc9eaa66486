"""The benchmarks run. How fast anything is, no test asks."""

import os
import subprocess
import sys

import pytest

import rankduel as rd
from fences import ROOT
from rankduel.interleaving import MULTILEAVINGS


def bench(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_quick_table_has_every_bandit() -> None:
    table = bench("--quick")
    assert [name for name in rd.REGISTRY if f"\n{name} " not in table] == []
    assert "import rankduel:" in table
    assert "MergeDTS of 5,000 arms" in table
    assert [name for name in MULTILEAVINGS if f"\n{name} " not in table] == []
    assert "team_draft, lists of 100" in table
    assert "\nfirst load: " in table


def test_live_tournament() -> None:
    assert "\nopened with 2,000 duels in " in bench("--live", "--quick")


def test_without_the_real_data(tmp_path: os.PathLike[str]) -> None:
    table = bench("--quick", "--bandit", "Uniform", RANKDUEL_DATA=str(tmp_path))
    assert table.startswith("web_search()")
    assert "MergeDTS" not in table


def test_instructions_are_not_counted_without_valgrind(tmp_path: os.PathLike[str]) -> None:
    told = bench("--instructions", "--quick", PATH=str(tmp_path))
    assert told == "valgrind is not installed: no instructions counted\n"


@pytest.mark.parametrize(
    "name", ["problem", "speed", "start", "impressions", "instructions", "live", "loading", "multileaving"]
)
def test_own_examples(name: str) -> None:
    code = f"import doctest, sys, benchmarks.{name} as module; sys.exit(doctest.testmod(module).failed)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
