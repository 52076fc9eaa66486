import json
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from rankduel.lab import Experiment, Results, Store, execute
from rankduel.simulation import run_seed


def fake(regret: float, winner: int | None, champion: int, converged_at: int | None) -> rd.Run:
    return rd.Run(
        "Fake", np.array([10, 100]), np.array([regret / 2, regret]), winner, champion, converged_at, 100, 1e-3
    )


@pytest.fixture
def results() -> Results:
    experiment = Experiment("cycle2", rd.problems.cycle2(), ("MergeDTS", "Uniform"), horizon=100, runs=3)
    runs = [
        *(fake(2.0, 0, 0, 20), fake(10.0, None, 0, None)),
        *(fake(4.0, 7, 7, 40), fake(10.0, None, 3, None)),
        *(fake(9.0, None, 0, None), fake(10.0, None, 5, None)),
    ]
    return Results(experiment, runs)


def test_rows(results: Results) -> None:
    merge, uniform = results.rows
    assert (merge.bandit, merge.runs, merge.regret) == ("MergeDTS", 3, 5.0)
    assert merge.regret_error == pytest.approx(np.sqrt(13 / 3))
    assert (merge.found, merge.lost, merge.champion_right, merge.converged_at) == (1, 1, 2, 40)
    assert merge.cpu_us_per_duel == pytest.approx(3000 / 160)
    assert (uniform.found, uniform.lost, uniform.champion_right, uniform.converged_at) == (0, 0, 1, None)
    assert uniform.regret_error == 0


def test_curves(results: Results) -> None:
    merge, _ = results.curves
    assert merge.duels.tolist() == [10, 100]
    assert merge.values.tolist() == [2.5, 5.0]
    assert merge.error is not None
    assert merge.error.tolist() == pytest.approx([np.sqrt(13 / 3) / 2, np.sqrt(13 / 3)])


def test_the_file_holds_everything_and_where_it_comes_from(tmp_path: Path) -> None:
    experiment = Experiment("cycle2", rd.problems.cycle2(), ("MergeDTS", "RMED1"), horizon=100_000, runs=3, seed=4)
    results = Results(experiment, execute(experiment.units, Store(tmp_path)))
    results.save(tmp_path / "curves.npz")
    with np.load(tmp_path / "curves.npz", allow_pickle=False) as file:
        stored = dict(file)
    checkpoints = len(experiment.checkpoints)
    assert stored["bandits"].tolist() == ["MergeDTS", "RMED1"]
    assert stored["specs"].tolist() == list(experiment.specs)
    assert stored["run_seeds"].tolist() == [str(run_seed(4, index)) for index in range(3)]
    assert stored["checkpoints"].tolist() == list(experiment.checkpoints)
    assert stored["regret"].shape == (2, 3, checkpoints)
    assert stored["winner"].tolist() == [[0, 0, 0], [-1, -1, -1]]
    assert stored["champion"].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert (stored["converged_at"][0] > 0).all()
    assert (stored["converged_at"][1] == -1).all()
    assert json.loads(str(stored["provenance"])) == {
        "schema": 1,
        "rankduel": rd.__version__,
        "problem": "cycle2",
        "fingerprint": rd.problems.cycle2().fingerprint,
        "n_arms": 20,
        "condorcet_winner": 0,
        "horizon": 100_000,
        "regret": "average",
        "delay": None,
        "seed": 4,
        "runs": 3,
    }
    # From the file alone, a run can be repeated.
    seed = int(stored["run_seeds"][1])
    bandit = rd.bandit_from(str(stored["specs"][1]), 20, seed=seed)
    again = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000, checkpoints=stored["checkpoints"], seed=seed)
    assert again.regret.tolist() == stored["regret"][1, 1].tolist()
