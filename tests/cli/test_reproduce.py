"""`rankduel reproduce` and `rankduel bench`, as processes."""

import json
import re
import signal
from pathlib import Path

import pytest

import rankduel as rd
from cli.processes import finished, run, start, until
from rankduel.lab import Store, Unit

QUICK = ("reproduce", "rq4", "--scale", "smoke", "--jobs", "2")
SPEC = """
name = "mine"
problems = ["cycle2"]
bandits = ["MergeDTS(alpha=200)", "Uniform"]
horizon = 4e5
runs = 5
"""


def test_the_list(tmp_path: Path) -> None:
    ran = run("reproduce", "--list", cwd=tmp_path)
    assert ran.returncode == 0
    assert re.findall(r"^(\w+)  ", ran.stdout, re.MULTILINE) == [*(f"rq{number}" for number in range(1, 8)), "theory"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_question(tmp_path: Path) -> None:
    ran = run(*QUICK, cwd=tmp_path, without="matplotlib")
    assert ran.returncode == 0, ran.stderr
    assert "24 of 24 runs" in ran.stderr
    assert "pip install 'rankduel[lab]'" in ran.stderr
    assert "not testable here rq4-sparring" in ran.stdout
    out = tmp_path / "results" / "reproduce"
    assert {path.name for path in out.iterdir()} == {
        *("runs", "curves", "tables", "report.html"),
        *(f"claims.{suffix}" for suffix in ("json", "md", "csv", "tex")),
    }
    assert all(claim["id"].startswith("rq4-") for claim in json.loads((out / "claims.json").read_text()))
    again = run(*QUICK, cwd=tmp_path, without="matplotlib")
    assert "24 of 24 runs (24 reused)" in again.stderr
    assert again.stdout == ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (("reproduce",), "no question given; pass rq1, rq2,"),
        (("reproduce", "rq9"), "unknown question 'rq9'"),
        (("reproduce", "rq4", "--scale", "huge"), "invalid choice: 'huge'"),
        (("reproduce", "rq4", "--data", "nowhere"), "--data must be an existing folder, got nowhere"),
        (("bench",), "no experiment given; pass a TOML file, or one of certified-delay, "),
        (("bench", "nothing.toml"), "spec file not found: nothing.toml"),
        (("bench", "mine.toml", "--scale", "paper"), "mine.toml: unknown scale 'paper', expected one of own"),
        (("bench", "bad.toml"), "bad.toml: part 'cycle2': unknown bandit 'Nobody'"),
        (("bench", "worse.toml"), "worse.toml: unknown key bandit"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, arguments: tuple[str, ...], warning: str) -> None:
    (tmp_path / "mine.toml").write_text(SPEC)
    (tmp_path / "bad.toml").write_text(SPEC.replace("Uniform", "Nobody"))
    (tmp_path / "worse.toml").write_text(SPEC.replace("bandits", "bandit"))
    ran = run(*arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert warning in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_experiments_with_a_name(tmp_path: Path) -> None:
    listed = run("bench", "--list", cwd=tmp_path)
    assert "certified-ties" in listed.stdout
    ran = run("bench", "certified-ties", "--scale", "smoke", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 0
    assert "| twins(n_arms=20, copies=2) | CertifiedSparring, tolerance=0.01 |" in ran.stdout


@pytest.mark.slow
def test_interrupted_it_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SPEC)
    command = ("bench", "mine.toml", "--jobs", "2", "--out", "out")
    with start(*command, cwd=tmp_path) as process:
        until(lambda: len(finished(tmp_path / "out")) >= 3, process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    kept = finished(tmp_path / "out")
    assert process.returncode == 130
    assert f"interrupted: {len(kept)} of 10 runs are stored in out\n" in stderr
    assert "run the same command again: rankduel bench mine.toml" in stderr
    again = run(*command, cwd=tmp_path, without="matplotlib")
    assert again.returncode == 0, again.stderr
    assert f"10 of 10 runs ({len(kept)} reused)" in again.stderr
    assert kept.items() <= finished(tmp_path / "out").items()
    assert re.search(r"^\| Uniform \| 5 \| 400,000 \| [\d,]+ ± ", again.stdout, re.MULTILINE)
    assert "mine" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_two_processes_on_one_folder_give_what_one_gives(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SPEC)
    command = ("bench", "mine.toml", "--jobs", "2", "--out")
    with start(*command, "two", cwd=tmp_path) as one, start(*command, "two", cwd=tmp_path) as other:
        for process in (one, other):
            _, stderr = process.communicate(timeout=60)
            assert process.returncode == 0, stderr
    assert run(*command, "one", cwd=tmp_path, without="matplotlib").returncode == 0
    assert finished(tmp_path / "one").keys() == finished(tmp_path / "two").keys()
    assert not list((tmp_path / "two").rglob(".*"))  # no drafts are left
    alone, shared = (results(tmp_path / folder) for folder in ("one", "two"))
    assert alone == shared
    for key in alone:
        assert repeated(tmp_path / "two" / "runs" / f"{key}.json") == shared[key]


def results(folder: Path) -> dict[str, object]:
    """What the stored runs say, but for the time that each took."""
    return {path.stem: result(json.loads(path.read_bytes())["record"]["run"]) for path in folder.glob("runs/*.json")}


def result(run: dict[str, object]) -> str:
    return json.dumps({name: value for name, value in run.items() if name != "cpu_seconds"}, sort_keys=True)


def repeated(path: Path) -> str:
    """The result of a stored run, computed again from what its file says of it."""
    unit = json.loads(path.read_bytes())["record"]["unit"]
    problem = rd.problems.cycle2()
    assert problem.fingerprint == unit["problem"]
    ran = Unit(
        problem=problem,
        bandit=unit["bandit"],
        horizon=unit["horizon"],
        checkpoints=tuple(unit["checkpoints"]),
        kind=unit["regret"],
        seed=unit["seed"],
        index=unit["run"],
    )
    assert ran.key == path.stem
    store = Store(path.parent.parent / "again")
    store.write(ran, ran.play())
    return result(json.loads(store.path(ran).read_bytes())["record"]["run"])
