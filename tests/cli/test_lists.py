import subprocess
import sys
from pathlib import Path

import pytest

import rankduel as rd
from cli.processes import COMMAND, run
from rankduel.bandits import any_bandit_from


def test_bandits(tmp_path: Path) -> None:
    listed = run("bandits", cwd=tmp_path).stdout.splitlines()
    assert [line.partition("(")[0] for line in listed[::2]] == [*rd.REGISTRY, *rd.MULTI_REGISTRY]
    for spec, line in zip(listed[::2], listed[1::2], strict=True):
        made, default = any_bandit_from(spec, 5), any_bandit_from(spec.partition("(")[0], 5)
        assert made.parameters == pytest.approx(default.parameters)
        assert line.startswith("    ")
        assert line.endswith(".")


def test_problems(tmp_path: Path) -> None:
    listed = run("problems", cwd=tmp_path).stdout.splitlines()
    assert [line.partition("(")[0] for line in listed[::2]] == list(rd.problems.PROBLEMS)
    assert "bradley_terry(n_arms, spread=1, winner=0.55, seed=0)" in listed


@pytest.mark.slow
@pytest.mark.parametrize("command", ["simulate", "demo", "bandits", "problems"])
def test_help(tmp_path: Path, command: str) -> None:
    helped = run(command, "--help", cwd=tmp_path)
    assert helped.returncode == 0
    assert f"usage: rankduel {command}" in helped.stdout
    assert command in run("--help", cwd=tmp_path).stdout


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"rankduel {rd.__version__}\n"


def test_a_reader_who_has_had_enough(tmp_path: Path) -> None:
    shell = f"{' '.join(COMMAND)} bandits | head -1"
    piped = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert piped.stdout.startswith("CertifiedSparring(")
    assert piped.stderr == ""


def test_the_core_is_numpy_alone(tmp_path: Path) -> None:
    program = "import sys, rankduel; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"rankduel.lab", "rankduel.cli", "matplotlib", "rich"} & set(loaded.stdout.split())
