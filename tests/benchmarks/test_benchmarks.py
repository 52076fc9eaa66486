"""The benchmarks run. No test checks their times."""

import os
import re
import subprocess
import sys

import pytest

import rankduel as rd
from fences import ROOT
from postgres.server import Server
from rankduel.interleaving import MULTILEAVINGS
from rankduel.lab import paper_specs


def bench(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table() -> str:
    return bench("--quick")


def test_quick_table_has_every_bandit(table: str) -> None:
    assert [name for name in rd.REGISTRY if f"\n{name} " not in table] == []
    assert "import rankduel:" in table
    assert "MergeDTS of 5,000 arms" in table
    assert [name for name in MULTILEAVINGS if f"\n{name} " not in table] == []
    assert "team_draft, lists of 100" in table
    assert "\nfirst load: " in table


def test_live_tournament() -> None:
    assert "\nopen with 2,000 duels: " in bench("--live", "--quick")


def test_endurance() -> None:
    told = bench("--endurance", "2000")
    assert told.count(" MB, 136 left\n") == 10
    assert "\nopen and first ask with 2,000 duels: " in told


def test_forecasts() -> None:
    lines = bench("--forecast", "--quick").splitlines()
    assert "at 25%" in lines[3]
    assert "at fixed duels" in lines[6]
    assert lines[3].split()[2] == "2"
    assert any(line.startswith("plans of 10 runs") for line in lines)


def test_sizes() -> None:
    lines = bench("--sizes", "--quick").splitlines()[-4:]
    for line in lines:
        played, pruned, anonymous = (int(size) for size in re.findall(r"(\d+)(?:,|;)", line.partition(": ")[2])[:3])
        assert anonymous < pruned < played, line


def test_table_2_stands_beside_the_papers(table: str) -> None:
    days = table.partition("\nCPU days for 1e8 duels, compared with Table 2 of the paper")[2]
    rows = {line.split()[0]: line.replace(" *", "").split()[1:] for line in days.splitlines()[-6:]}
    theirs = paper_specs()["rq2"].table["paper"]
    assert rows.keys() == theirs.keys()
    for bandit, cells in rows.items():
        assert [float(cell) for cell in cells[1::3]] == theirs[bandit]
        for ours, days_there, ratio in zip(cells[::3], theirs[bandit], cells[2::3], strict=True):
            assert float(ratio.replace(",", "")) == pytest.approx(days_there / float(ours), rel=0.1, abs=1)


def test_without_the_real_data(tmp_path: os.PathLike[str]) -> None:
    table = bench("--quick", "--bandit", "Uniform", RANKDUEL_DATA=str(tmp_path))
    assert table.startswith("web_search()")
    assert "MergeDTS" not in table


def test_instructions_are_not_counted_without_valgrind(tmp_path: os.PathLike[str]) -> None:
    told = bench("--instructions", "--quick", PATH=str(tmp_path))
    assert told == "valgrind is not installed; install it to count instructions\n"


@pytest.mark.parametrize(
    "name",
    ["problem", "speed", "start", "impressions", "instructions", "live", "loading", "multileaving", "running_time"],
)
def test_own_examples(name: str) -> None:
    code = f"import doctest, sys, benchmarks.{name} as module; sys.exit(doctest.testmod(module).failed)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_service() -> None:
    lines = bench("--service", "--quick")
    assert "bare hello: " in lines
    assert "durable tells/s" in lines
    assert "\nbatches of 100: " in lines


def test_metrics() -> None:
    told = bench("--metrics", "--quick")
    assert "\ncounting a request: " in told
    assert "\nscrape of 20 tournaments: " in told


def test_postgres(postgres: Server) -> None:
    lines = bench("--postgres", postgres.empty(), "--quick")
    for processes in (1, 3):
        for what in ("batches of 100", "8 threads, one duel at a time"):
            assert f"\nask and durable tell, {what}, {processes} processes: " in lines
    assert "in the first 0.2 s" in lines
    assert "nan us in the database" not in lines  # it runs on this machine
