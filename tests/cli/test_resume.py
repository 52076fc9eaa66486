"""Runs that were stopped in the middle, and two processes at once."""

import json
import signal
from pathlib import Path

import pytest

from cli.processes import finished, products, run, start, until

# Ten runs: five of about a quarter of a second, five of less.
LONG = ["simulate", "cycle2", "--bandit", "MergeDTS(alpha=200)", "--bandit", "Uniform", "--horizon", "4e5"]
LONG += ["--runs", "5", "--jobs", "2", "--format", "json"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    ran = run(*LONG, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder / "results"


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_is_finished_is_kept_and_only_the_rest_computed(
    tmp_path: Path, uninterrupted: Path, how: signal.Signals
) -> None:
    results = tmp_path / "results"
    with start(*LONG, cwd=tmp_path) as process:
        until(lambda: len(finished(results)) >= 3, process)
        process.send_signal(how)
        stdout, stderr = process.communicate(timeout=30)
    kept = finished(results)
    assert stdout == ""
    assert 3 <= len(kept) < 10
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert f"interrupted: {len(kept)} of 10 runs are stored in results\n" in stderr
        assert "to continue, run the same command again: rankduel simulate cycle2 " in stderr
        assert "Traceback" not in stderr

    again = run(*LONG, cwd=tmp_path)
    assert again.returncode == 0
    assert f"10 of 10 runs ({len(kept)} reused)" in again.stderr
    assert len(finished(results)) == 10
    assert kept.items() <= finished(results).items()
    assert products(results) == products(uninterrupted)


@pytest.mark.slow
def test_killed_again_and_again_it_comes_to_the_same_end(tmp_path: Path, uninterrupted: Path) -> None:
    results = tmp_path / "results"
    for goal in (1, 3, 5):
        with start(*LONG, cwd=tmp_path) as process:
            until(lambda goal=goal: len(finished(results)) >= goal, process)  # type: ignore[misc]
    assert run(*LONG, cwd=tmp_path).returncode == 0
    assert products(results) == products(uninterrupted)


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path: Path, uninterrupted: Path) -> None:
    reports = []
    with start(*LONG, cwd=tmp_path) as one, start(*LONG, cwd=tmp_path) as two:
        for process in (one, two):
            stdout, stderr = process.communicate(timeout=60)
            assert process.returncode == 0, stderr
            reports.append([bandit["regret"] for bandit in json.loads(stdout)["bandits"]])
    assert reports[0] == reports[1]
    assert products(tmp_path / "results") == products(uninterrupted)
    assert not list((tmp_path / "results").rglob(".*"))
    assert "10 of 10 runs (10 reused)" in run(*LONG, cwd=tmp_path).stderr


@pytest.mark.slow
def test_a_finished_plan_says_the_same_again(uninterrupted: Path) -> None:
    once, twice = (run(*LONG, cwd=uninterrupted.parent, without="matplotlib") for _ in range(2))
    assert once.stdout == twice.stdout
