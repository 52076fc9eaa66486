"""The figures that the authors' own program gave on their matrix, and the prototype of the paper's pseudo-code.

Where the program follows the paper's definition, ours agree within 4 combined standard errors. False alarm: 6e-5 per
figure, by the number of errors that the specification allows; seeds are fixed.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

import rankduel as rd

pytestmark = pytest.mark.shared_data

RUNS = 24
FIGURES = [  # bandit, duels, mean regret, its standard error
    ("MergeDTS", 10_000, 917.0, 8.6),
    ("MergeDTS", 100_000, 5551.8, 62.9),
    ("MergeRUCB", 10_000, 900.2, 2.6),
    ("MergeRUCB", 100_000, 5719.7, 45.1),
    ("SelfSparring", 10_000, 575.0, 4.8),
    ("SelfSparring", 100_000, 2921.7, 34.5),
    ("DTS", 10_000, 626.7, 17.3),  # nearly: it reuses a stored pool of Beta draws
]


@pytest.mark.parametrize(
    ("bandit", "duels", "mean", "error"), FIGURES, ids=[f"{bandit}-{duels}" for bandit, duels, *_ in FIGURES]
)
def test_the_authors_program(
    real_matrix: Callable[[str], rd.PreferenceMatrix], bandit: str, duels: int, mean: float, error: float
) -> None:
    problem = real_matrix("mslr_navigational_136")
    n = 12 if bandit == "DTS" else RUNS
    runs = rd.simulate_runs(bandit, problem, horizon=duels, runs=n, seed=1, checkpoints=[duels])
    ours = np.array([run.regret[-1] for run in runs])
    combined = math.hypot(error, ours.std(ddof=1) / math.sqrt(n))
    assert abs(ours.mean() - mean) < 4 * combined, f"ours {ours.mean():.1f}, theirs {mean} (+- {combined:.1f})"


def test_a_whole_tournament(real_matrix: Callable[[str], rd.PreferenceMatrix]) -> None:
    """A prototype of MergeDTS ended after 580,000 to 960,000 duels, regret 15,665 +- 273, and never lost the winner.

    We have seen 2 of 400 runs lose it or not end within 1e7 duels: the tuned parameters promise nothing. At that rate
    more than 3 of 24 has probability 1e-5; the regret is compared over the others.
    """
    problem = real_matrix("mslr_navigational_136")
    runs = rd.simulate_runs("MergeDTS", problem, horizon=10_000_000, runs=RUNS, seed=2)
    right = [run for run in runs if run.winner == 109]
    assert problem.condorcet_winner == 109
    assert len(right) >= RUNS - 3
    ours = np.array([run.regret[-1] for run in right])
    combined = math.hypot(273, ours.std(ddof=1) / math.sqrt(len(right)))
    assert abs(ours.mean() - 15_665) < 4 * combined
    assert 580_000 < np.median([run.converged_at or 0 for run in right]) < 960_000
