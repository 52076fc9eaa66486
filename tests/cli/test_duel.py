"""`rankduel duel`: bandits on searches of simulated users."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from cli.processes import run

DATA = "synthetic(n_queries=40, n_rankers=8, n_documents=20)"


@pytest.mark.slow
def test_what_users_saw(tmp_path: Path) -> None:
    arguments = ("duel", DATA, "--bandit", "MergeDTS", "--bandit", "MultiUCB", "--bandit", "Uniform")
    ran = run(*arguments, "--clicks", "perfect", "--horizon", "2e4", "--runs", "2", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    title, head, *rows = ran.stdout.splitlines()
    assert title == f"{DATA}: 8 arms, preferences not known; 20,000 duels, 2 runs, seed 0"
    assert head.split()[:2] == ["bandit", "clicks@10"]
    assert "ndcg@10" in head
    assert "regret" not in head
    assert [row.split()[0] for row in rows] == ["MergeDTS", "MultiUCB", "Uniform"]
    ndcg = [float(row.split()[3]) for row in rows]
    assert ndcg[0] > ndcg[2] + 0.1
    assert ndcg[1] > ndcg[2] + 0.1
    saved = {path.suffix for path in (tmp_path / "results").iterdir() if path.is_file()}
    assert saved == {".npz", ".png", ".svg"}
    (curves,) = (tmp_path / "results").glob("*.npz")
    with np.load(curves) as file:
        assert file["ndcg@10"].shape == file["regret"].shape == (3, 2, len(file["checkpoints"]))
        assert f"{file['ndcg@10'][0, :, -1].mean() / 20_000:.4f}" == f"{ndcg[0]:.4f}"
    assert (
        "6 of 6 runs (6 reused)"
        in run(*arguments, "--clicks", "perfect", "--horizon", "2e4", "--runs", "2", cwd=tmp_path).stderr
    )


@pytest.mark.slow
def test_regret_with_preferences(tmp_path: Path) -> None:
    assert run("matrix", DATA, "--duels", "1000", "--clicks", "perfect", cwd=tmp_path).returncode == 0
    common = (
        "duel",
        DATA,
        "--clicks",
        "perfect",
        "--preferences",
        "preferences.npz",
        "--horizon",
        "2e4",
        "--runs",
        "3",
    )
    told = json.loads(run(*common, "--format", "json", cwd=tmp_path).stdout)
    (bandit,) = told["bandits"]
    assert bandit["found"] == 3
    assert bandit["regret"] > 0
    assert set(bandit["measures"]) == {"clicks@10", "clicks@10_error", "ndcg@10", "ndcg@10_error"}
    assert bandit["champions"] == {str(told["condorcet_winner"]): 3}
    (row,) = csv.DictReader(io.StringIO(run(*common, "--format", "csv", cwd=tmp_path).stdout))
    assert float(row["ndcg@10"]) == bandit["measures"]["ndcg@10"]
    assert row["champions"] == f"{told['condorcet_winner']}:3"


@pytest.mark.slow
def test_bad_input_is_one_line(tmp_path: Path) -> None:
    for arguments, told in [
        ((DATA, "--bandit", "MergeDST"), "unknown bandit 'MergeDST'"),
        ((DATA, "--bandit", "MultiUCB(rule='none')"), "rule must be corrected or released, got 'none'"),
        ((DATA, "--multileaving", "none"), "unknown multileaving 'none'"),
        ((DATA, "--preferences", "missing.npz"), "missing.npz"),
    ]:
        ran = run("duel", *arguments, "--horizon", "10", cwd=tmp_path)
        assert ran.returncode == 2
        assert told in ran.stderr
        assert len(ran.stderr.strip().splitlines()) == 1
    ran = run("simulate", "cycle2", "--bandit", "MultiUCB", cwd=tmp_path)
    assert ran.returncode == 2
    assert "unknown bandit 'MultiUCB'" in ran.stderr
