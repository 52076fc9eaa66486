import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from cli.processes import finished, products, run

TWO = ("--bandit", "MergeDTS", "--bandit", "MergeRUCB(alpha=0.26, batch_size=4)", "--horizon", "1e5", "--runs", "4")


@pytest.mark.slow
def test_every_format_says_the_same(tmp_path: Path) -> None:
    table, text, rows = (
        run("simulate", "cycle2", *TWO, "--seed", "1", "--format", form, cwd=tmp_path, without="matplotlib")
        for form in ("table", "json", "csv")
    )
    assert table.returncode == text.returncode == rows.returncode == 0
    report = json.loads(text.stdout)
    assert report["problem"] == "cycle2"
    assert report["horizon"] == 100_000
    assert report["regret"] == "average"
    lines = table.stdout.splitlines()
    assert lines[0] == "cycle2: 20 arms, Condorcet winner 0; 100,000 duels, 4 runs, seed 1"
    for bandit, row, line in zip(report["bandits"], csv.DictReader(io.StringIO(rows.stdout)), lines[2:], strict=True):
        champions = " ".join(f"{arm}:{runs}" for arm, runs in bandit["champions"].items())
        flat = {name: value for name, value in bandit.items() if name not in ("spec", "measures")}
        assert {name: str(value) for name, value in (flat | {"champions": champions}).items()} == row
        assert line.startswith(bandit["bandit"])
        regret, error, found, lost, right, converged, cpu = line.removeprefix(bandit["bandit"]).split()
        assert float(regret.replace(",", "")) == pytest.approx(bandit["regret"], abs=0.051)
        assert float(error.replace(",", "")) == pytest.approx(bandit["regret_error"], abs=0.051)
        assert (found, lost, right) == tuple(f"{bandit[name]}/4" for name in ("found", "lost", "champion_right"))
        assert float(converged.replace(",", "")) == pytest.approx(bandit["converged_at"], abs=0.51)
        assert float(cpu) == pytest.approx(bandit["cpu_us_per_duel"], abs=0.00051)
    # The numbers are those of the library.
    runs = rd.simulate_runs(
        "MergeRUCB(alpha=0.26, batch_size=4)", rd.problems.cycle2(), horizon=100_000, runs=4, seed=1
    )
    assert report["bandits"][1]["regret"] == np.mean([each.regret[-1] for each in runs])
    with np.load(tmp_path / report["curves"]) as curves:
        assert (curves["regret"][1] == [each.regret for each in runs]).all()


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        assert run("simulate", "cycle2", *TWO, "--jobs", jobs, "--out", f"jobs{jobs}", cwd=tmp_path).returncode == 0
    one, two = products(tmp_path / "jobs1"), products(tmp_path / "jobs2")
    assert {Path(name).suffix for name in one} == {".npz", ".png", ".svg"}
    assert one == two


@pytest.mark.slow
def test_more_runs_and_bandits_compute_only_what_is_new(tmp_path: Path) -> None:
    run("simulate", "cycle2", "--horizon", "1e4", "--runs", "3", cwd=tmp_path, without="matplotlib")
    old = finished(tmp_path / "results")
    assert len(old) == 3
    more = run("simulate", "cycle2", "--horizon", "1e4", "--runs", "5", cwd=tmp_path, without="matplotlib")
    assert "5 of 5 runs (3 reused)" in more.stderr
    bandits = ("--bandit", "MergeDTS(batch_size=16)", "--bandit", "Uniform")
    both = run("simulate", "cycle2", *bandits, "--horizon", "1e4", "--runs", "5", cwd=tmp_path, without="matplotlib")
    assert "10 of 10 runs (5 reused)" in both.stderr
    new = finished(tmp_path / "results")
    assert len(new) == 10
    assert old.items() <= new.items()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        ("--bandit", "MergeDTS(alpha=0.5)"),
        ("--horizon", "1001"),
        ("--seed", "1"),
        ("--regret", "weak"),
        ("--delay", "Fixed(duels=10)"),
    ],
)
def test_a_changed_parameter_never_reuses_an_old_run(tmp_path: Path, change: tuple[str, str]) -> None:
    run("simulate", "cycle2", "--horizon", "1000", "--runs", "2", cwd=tmp_path, without="matplotlib")
    changed = run("simulate", "cycle2", "--horizon", "1000", "--runs", "2", *change, cwd=tmp_path, without="matplotlib")
    assert "2 of 2 runs, " in changed.stderr
    assert len(finished(tmp_path / "results")) == 4


@pytest.mark.slow
def test_late_feedback_is_told(tmp_path: Path) -> None:
    arguments = ("simulate", "cycle2", "--horizon", "1e4", "--runs", "2", "--delay", "Fixed(duels=99, in_flight=50)")
    table, text = (run(*arguments, "--format", form, cwd=tmp_path, without="matplotlib") for form in ("table", "json"))
    assert table.stdout.splitlines()[0].endswith("seed 0, Fixed(duels=99, in_flight=50)")
    assert " 50.0 % " in table.stdout
    report = json.loads(text.stdout)
    assert report["delay"] == "Fixed(duels=99, in_flight=50)"
    assert report["bandits"][0]["waited"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_a_damaged_run_is_computed_again(tmp_path: Path) -> None:
    arguments = ("simulate", "cycle2", "--horizon", "1e4", "--runs", "4")
    run(*arguments, cwd=tmp_path)
    intact = products(tmp_path / "results")
    empty, cut, flipped, _ = sorted((tmp_path / "results" / "runs").iterdir())
    empty.write_bytes(b"")
    cut.write_bytes(cut.read_bytes()[:1000])
    content = flipped.read_bytes()
    digit = content.rindex(b"0.")
    flipped.write_bytes(content[:digit] + b"1" + content[digit + 1 :])
    again = run(*arguments, cwd=tmp_path)
    assert again.returncode == 0
    assert "4 of 4 runs (1 reused)" in again.stderr
    assert products(tmp_path / "results") == intact


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".txt", ".csv", ".npy", ".npz", ".txt.gz"])
def test_a_problem_may_be_a_file(tmp_path: Path, suffix: str) -> None:
    rd.problems.cycle2().save(tmp_path / f"circle{suffix}")
    ran = run(
        "simulate",
        f"circle{suffix}",
        "--horizon",
        "1e5",
        "--runs",
        "2",
        "--format",
        "json",
        cwd=tmp_path,
        without="matplotlib",
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert (report["problem"], report["n_arms"], report["condorcet_winner"]) == ("circle", 20, 0)
    assert report["bandits"][0]["found"] == 2
    assert (tmp_path / report["curves"]).name.startswith("circle-")


@pytest.mark.slow
def test_without_a_condorcet_winner_there_is_copeland_regret(tmp_path: Path) -> None:
    rd.PreferenceMatrix.from_array([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]).save(tmp_path / "stone.csv")
    arguments = ("simulate", "stone.csv", "--bandit", "SelfSparring", "--horizon", "1000", "--runs", "2")
    refused = run(*arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert "use --regret copeland" in refused.stderr
    assert run(*arguments, "--regret", "copeland", cwd=tmp_path, without="matplotlib").returncode == 0


@pytest.mark.slow
def test_a_single_run_has_no_error_and_a_single_arm_no_regret(tmp_path: Path) -> None:
    arguments = ("--horizon", "1", "--runs", "1", "--format", "json")
    ran = run("simulate", "bradley_terry(n_arms=1)", *arguments, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    (bandit,) = json.loads(ran.stdout)["bandits"]
    assert (bandit["regret"], bandit["regret_error"], bandit["found"], bandit["converged_at"]) == (0, None, 1, 0)


@pytest.mark.slow
def test_without_matplotlib_all_but_the_plot_is_there(tmp_path: Path) -> None:
    ran = run("simulate", "cycle2", "--horizon", "1000", "--runs", "2", cwd=tmp_path, without="matplotlib")
    assert ran.returncode == 0, ran.stderr
    assert "pip install 'rankduel[lab]'" in ran.stderr
    assert ran.stdout.startswith("cycle2: 20 arms")
    assert [Path(name).suffix for name in products(tmp_path / "results")] == [".npz"]
