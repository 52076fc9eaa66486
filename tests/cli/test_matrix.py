"""`rankduel matrix`: from files to a matrix, kept when stopped, and clear about what is wrong."""

import gzip
import json
import signal
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from cli.processes import on_terminal, plain, run, start, until

DATA = "synthetic(n_queries=40, n_rankers=8, n_documents=20)"
LONG = ["matrix", "synthetic(n_queries=40, n_rankers=24)", "--duels", "80_000", "--jobs", "2", "-o", "P.npz"]


def letor(path: Path, lines: int = 300) -> Path:
    random = np.random.default_rng(1)
    rows = [
        f"{random.integers(3)} qid:{line // 10} 1:{random.integers(5)} 2:{random.random():.4f} 3:1"
        for line in range(lines)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.slow
def test_summary_and_file(tmp_path: Path) -> None:
    ran = run("matrix", DATA, "--duels", "2e3", "--clicks", "perfect", "-o", "out/P.npz", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    matrix = rd.PreferenceMatrix.load(tmp_path / "out" / "P.npz")
    assert f"{DATA}: 8 rankers, 2,000 duels for each of 28 pairs, 56k duels in total" in ran.stdout
    assert f"Condorcet winner:  {matrix.condorcet_winner} (ranker {matrix.condorcet_winner})" in ran.stdout
    assert "smallest gap:" in ran.stdout
    assert "3-cycles:          0" in ran.stdout
    assert "standard error:    at most 0.0" in ran.stdout
    assert ran.stderr.endswith("saved out/P.npz\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["P.npz"]
    assert run("simulate", "out/P.npz", "--runs", "1", "--horizon", "1e4", cwd=tmp_path).returncode == 0


def test_json(tmp_path: Path) -> None:
    ran = run("matrix", DATA, "--duels", "100", "--faithful", "--ties", "redraw", "--format", "json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert told["faithful"] is True
    assert told["ties"] == "redraw"
    assert told["n_arms"] == 8
    assert 0.04 < told["standard_error"] <= 0.05
    assert Path(tmp_path / told["matrix"]).exists()


@pytest.mark.slow
def test_letor_files_folders_and_runs(tmp_path: Path) -> None:
    folder = tmp_path / "Fold1"
    folder.mkdir()
    text = letor(folder / "train.txt").read_bytes()
    (tmp_path / "all.gz").write_bytes(gzip.compress(text))
    matrices = []
    for data in ("Fold1", "all.gz"):
        ran = run("matrix", data, "--duels", "50", "-o", f"{data}.npz", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "3 (feature" not in ran.stdout
        assert "rankers, 50 duels for each of 3 pairs" in ran.stdout
        matrices.append(rd.PreferenceMatrix.load(tmp_path / f"{data}.npz"))
    assert matrices[0] == matrices[1]
    assert matrices[0].names == ("feature 1", "feature 2", "feature 3")

    for name in ("one", "two"):
        lines = [f"q{q} Q0 d{d} {d} {(d if name == 'one' else -d)} {name}" for q in range(3) for d in range(12)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text("\n".join(f"q{q} 0 d{d} {int(d < 3)}" for q in range(3) for d in range(12)) + "\n")
    ran = run("matrix", "one.run", "two.run", "--qrels", "qrels", "--clicks", "perfect", "--duels", "500", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Condorcet winner:  1 (two)" in ran.stdout


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    ran = run(*LONG, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return (folder / "P.npz").read_bytes()


@pytest.mark.slow
def test_stopped_by_hand_it_goes_on(tmp_path: Path, uninterrupted: bytes) -> None:
    code, _, received = on_terminal(*LONG, cwd=tmp_path, stop_at=r"[3-9]\d\.\d %.*duels, .*/s, \d+ s left")
    assert code == 130
    (part,) = tmp_path.glob("P.npz.*.part")
    assert f"interrupted: the counts so far are saved in {part.name}" in plain(received)
    assert "to continue, run the same command again: rankduel matrix " in plain(received)
    with np.load(part) as kept:
        assert 0 < kept["done"].sum() < len(kept["done"])
    again = run(*LONG, cwd=tmp_path)
    assert "parts reused)" in again.stderr
    assert (tmp_path / "P.npz").read_bytes() == uninterrupted
    assert not part.exists()


@pytest.mark.slow
def test_killed_it_goes_on(tmp_path: Path, uninterrupted: bytes) -> None:
    with start(*LONG, "--jobs", "1", cwd=tmp_path) as process:
        until(lambda: bool(list(tmp_path.glob("P.npz.*.part"))), process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
    assert not (tmp_path / "P.npz").exists()
    again = run(*LONG, cwd=tmp_path)
    assert "parts reused)" in again.stderr
    assert (tmp_path / "P.npz").read_bytes() == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.txt"], "nothing.txt"),
        (["empty.txt"], "empty.txt"),
        (["bad.txt"], "bad.txt:2: "),
        (["nan.txt"], "nan.txt:1: "),
        (["cut.gz"], "cut.gz"),
        (["high.txt"], "grades 0 to 9, but published click models have at most 5 grades"),
        (["one.txt"], "preferences need at least 2 rankers, but the collection has 1"),
        ([DATA, "--clicks", "eager"], "unknown click model 'eager'"),
        ([DATA, "--interleaving", "zipper"], "unknown interleaving 'zipper'"),
        ([DATA, "--k", "0"], "expected a whole number of at least 1, got '0'"),
        ([DATA, "-o", "P.csv"], "--out must end in .npz, got P.csv"),
        (["synthetic(n_rankers=0)"], "n_rankers"),
        (["synthetic(rankers=3)"], "rankers"),
        (["bad.txt", "--qrels", "nothing"], "bad.txt"),
        (["x", "--qrels", "y", "--model", "z"], "--model cannot be used with --qrels"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], told: str) -> None:
    (tmp_path / "empty.txt").write_text("# nothing here\n")
    (tmp_path / "bad.txt").write_text("1 qid:1 1:2\n1 qid:1 1:x\n")
    (tmp_path / "nan.txt").write_text("1 qid:1 1:nan 2:1\n")
    (tmp_path / "high.txt").write_text("9 qid:1 1:2 2:1\n0 qid:1 1:1 2:2\n")
    (tmp_path / "one.txt").write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(letor(tmp_path / "whole.txt").read_bytes())[:-200])
    ran = run("matrix", *arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert told in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.glob("*.npz*"))
