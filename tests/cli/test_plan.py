import csv
import io
import json
import signal
from pathlib import Path

import pytest

import rankduel as rd
from cli.processes import finished, run, start, until

ARGUMENTS = ("plan", "--problem", "cycle2", "--daily", "1e4", "--deadline", "3", "--runs", "4", "--horizon", "1e6")
LATE = ("--delay", "Fixed(duels=2000)")


@pytest.mark.slow
def test_every_format_says_the_same_as_the_library(tmp_path: Path) -> None:
    table, text, rows = (run(*ARGUMENTS, *LATE, "--format", form, cwd=tmp_path) for form in ("table", "json", "csv"))
    assert table.returncode == text.returncode == rows.returncode == 0, table.stderr
    assert "8 of 8 runs, " in table.stderr
    assert "8 of 8 runs (8 reused)" in text.stderr
    told = rd.plan(problem="cycle2", daily_duels=10_000, deadline=3, runs=4, horizon=10**6, delay=LATE[1])
    assert table.stdout == f"{told}\n"
    report = json.loads(text.stdout)
    assert told.late is not None
    assert (report["late"]["duels"]["p50"], report["delay"]) == (told.late.duels.p50, "Fixed(duels=2000)")
    for row, expected in zip(csv.DictReader(io.StringIO(rows.stdout)), told.rows(), strict=True):
        assert row == {name: "" if value is None else str(value) for name, value in expected.items()}


def test_a_matrix_file_is_a_problem(tmp_path: Path) -> None:
    rd.problems.cycle2().save(tmp_path / "mine.csv")
    ran = run("plan", "--problem", "mine.csv", "--runs", "2", "--format", "json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert (report["problem"], report["n_rankers"], report["late"]) == ("mine", 20, None)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_it_goes_on_where_it_was(tmp_path: Path, how: signal.Signals) -> None:
    long = [*ARGUMENTS, "--bandit", "MergeDTS(alpha=5)", "--runs", "20", "--jobs", "2"]
    with start(*long, cwd=tmp_path) as process:
        until(lambda: len(finished(tmp_path / "results")) >= 2, process)
        process.send_signal(how)
        stdout, stderr = process.communicate(timeout=30)
    kept = finished(tmp_path / "results")
    assert stdout == ""
    assert 2 <= len(kept) < 20
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: finished runs are stored in results\n" in stderr
        assert "to continue, run the same command again: rankduel plan --problem cycle2 " in stderr
        assert "Traceback" not in stderr
    again = run(*long, cwd=tmp_path)
    assert f"20 of 20 runs ({len(kept)} reused)" in again.stderr
    assert kept.items() <= finished(tmp_path / "results").items()
