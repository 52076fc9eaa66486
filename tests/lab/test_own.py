import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankduel as rd
from cli.processes import finished, run, start, until
from lab.own import GREEDY, STEPS, forget
from rankduel.bandits import code_of, plays_in_python
from rankduel.lab import Experiment, Progress, Store, execute, normal_form


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, with modules of its own."""
    (tmp_path / "greedy.py").write_text(GREEDY)
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()
    yield tmp_path
    forget()


def plan(horizon: int = 2000, runs: int = 3) -> Experiment:
    bandits = ("greedy:Greedy", "MergeDTS", "greedy:Greedy(epsilon=0.5)")
    return Experiment("cycle2", rd.problems.cycle2(), bandits, horizon=horizon, runs=runs)


@pytest.mark.usefixtures("folder")
def test_it_is_a_bandit_like_any_other() -> None:
    bandit = rd.bandit_from("greedy:Greedy(epsilon=0.2)", 20, seed=1)
    assert repr(bandit) == "Greedy(20, epsilon=0.2, seed=1)"
    assert normal_form(" greedy:Greedy( epsilon = 0.2 )", 20) == "greedy:Greedy(epsilon=0.2)"
    assert normal_form("greedy:Greedy", 20) == "greedy:Greedy(epsilon=0.1)"
    assert [unit.label for unit in plan().units[:3]] == ["Greedy run 0", "MergeDTS run 0", "Greedy run 0"]
    runs = rd.simulate_runs("greedy:Greedy", rd.problems.cycle2(), horizon=2000, runs=1)
    assert plan().units[0].play().regret.tolist() == runs[0].regret.tolist()


@pytest.mark.usefixtures("folder")
def test_rules_in_python_are_told_from_compiled_ones() -> None:
    assert plays_in_python("greedy:Greedy(epsilon=0.2)")
    assert plays_in_python("greedy:Silent")
    assert not plays_in_python("greedy:Renamed()")
    assert not any(map(plays_in_python, rd.REGISTRY))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere:Greedy", "cannot import nowhere:Greedy: there is no module 'nowhere'"),
        ("greedy.deeper:Greedy", "cannot import greedy.deeper:Greedy: there is no module 'greedy.deeper'"),
        ("greedy:Grumpy", "module 'greedy' has no class 'Grumpy'"),
        ("greedy:function", "greedy:function must be a subclass of rankduel.Bandit, got <function"),
        ("rankduel:MultiUCB", "rankduel:MultiUCB must be a subclass of rankduel.Bandit"),
        ("broken:Greedy", "cannot import 'broken': ZeroDivisionError: division by zero"),
        ("greedy:Greedy(alpha=1)", "unexpected keyword argument 'alpha'"),
        ("greedy:Greedy(epsilon=x)", "'x' is not a literal value"),
        ("greedy:Silent(volume=2)", "call super().__init__(n_arms, seed=seed, volume=volume)"),
        ("greedy:Odd", "the parameters of greedy:Odd must be literal values"),
        ("gre edy:Greedy", "expected module:Class or module:Class(option=value, ...)"),
        (":Greedy", "expected module:Class or module:Class(option=value, ...)"),
        ("greedy:", "expected Name or Name(option=value, ...)"),
    ],
)
def test_a_wrong_address_is_named(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Experiment("cycle2", rd.problems.cycle2(), (spec,), horizon=10, runs=1)


def test_changed_code_is_another_bandit(folder: Path) -> None:
    keys = {plan().units[0].key}
    for file, text in (("greedy.py", GREEDY + "# another"), ("steps.py", "STEP = 2\n")):
        (folder / file).write_text(text)
        assert plan().units[0].key in keys  # as it was imported
        forget()
        keys.add(plan().units[0].key)
    (folder / "broken.py").write_text("nobody asks")
    forget()
    keys.add(plan().units[0].key)
    assert len(keys) == 3
    assert code_of("MergeDTS()") is None
    assert "code" not in plan().units[1].content


@pytest.mark.usefixtures("folder")
def test_processes_change_nothing(tmp_path: Path) -> None:
    units = plan().units
    expected = [unit.play().regret.tolist() for unit in units]
    seen: list[Progress] = []
    for jobs in (1, 2):
        runs = execute(units, Store(tmp_path / str(jobs)), jobs=jobs, watch=seen.append)
        assert [run.regret.tolist() for run in runs] == expected
        assert (seen[-1].done, seen[-1].share, seen[-1].running) == (9, 1.0, ())


@pytest.mark.usefixtures("folder")
def test_processes_tell_how_far_they_are_and_stop_when_told(tmp_path: Path) -> None:
    endless = Experiment("cycle2", rd.problems.cycle2(), ("greedy:Greedy",), horizon=10**12, runs=2)
    asked = 0.0

    def interrupt(progress: Progress) -> None:
        nonlocal asked
        if progress.duels > 0 and len(progress.running) == 2:
            asked = time.monotonic()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(endless.units, Store(tmp_path), jobs=2, watch=interrupt)
    assert time.monotonic() - asked < 10, "0.1 s on an idle machine"


def test_code_that_changes_meanwhile_is_refused(folder: Path, tmp_path: Path) -> None:
    units = [unit for unit in plan().units if "Greedy" in unit.bandit]
    assert len({unit.key for unit in units}) == 6  # known by now
    (folder / "steps.py").write_text("STEP = 2\n")
    with pytest.raises(RuntimeError, match="a worker has another version of rankduel, or of greedy:Greedy"):
        execute(units, Store(tmp_path / "out"), jobs=2)


LONG = ["simulate", "cycle2", "--bandit", "greedy:Greedy", "--bandit", "MergeDTS", "--horizon", "1e5", "--jobs", "2"]
LONG += ["--runs", "8", "--format", "csv"]


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(child) for child in found.split()]


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("folder")
def test_the_command_line_finds_it_here_and_stops_all_processes(tmp_path: Path) -> None:
    for how in (signal.SIGINT, signal.SIGKILL):
        before = len(finished(tmp_path / "results"))
        with start(*LONG, cwd=tmp_path) as process:
            until(lambda before=before: len(finished(tmp_path / "results")) >= before + 2, process)  # type: ignore[misc]
            processes = children(process.pid)
            assert len(processes) >= 2
            if how is signal.SIGINT:
                for pid in (process.pid, *processes):
                    os.kill(pid, how)  # as a terminal does
            else:
                process.send_signal(how)
            stderr = process.communicate(timeout=60)[1]
        if how is signal.SIGINT:
            assert process.returncode == 130, stderr
            assert "Traceback" not in stderr
        deadline = time.monotonic() + 20
        while any(map(alive, processes)):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    ended = run(*LONG, "--runs", "2", cwd=tmp_path, without="matplotlib")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[1].startswith("greedy:Greedy,2,")
    missing = run("simulate", "cycle2", "--bandit", "greedy:Grumpy", cwd=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("rankduel simulate: error: module 'greedy' has no class 'Grumpy' (see")


@pytest.mark.usefixtures("folder")
def test_processes_play_late_feedback_too(tmp_path: Path) -> None:
    late = dataclasses.replace(plan(runs=2), delay=rd.delays.Empirical(range(200), in_flight=50))
    expected = [(run.regret.tolist(), run.waited) for run in (unit.play() for unit in late.units)]
    runs = execute(late.units, Store(tmp_path / "store"), jobs=2)
    assert [(run.regret.tolist(), run.waited) for run in runs] == expected
