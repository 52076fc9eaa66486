"""The paper's RQ4 at small scale: who does well where preferences go in circles.

Each ordering is asserted with a distance of some standard errors, and the figures that we measured stand beside it.
"""

import math
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import rankduel as rd

PROBLEMS = {"cycle": rd.problems.cycle(), "cycle2": rd.problems.cycle2()}
CHECKPOINTS = [30_000, 100_000, 1_000_000]


@cache
def curves(bandit: str, problem: str, runs: int, last: int = 2) -> npt.NDArray[np.float64]:
    """Regret at the checkpoints, a row per run."""
    points = CHECKPOINTS[: last + 1]
    results = rd.simulate_runs(bandit, PROBLEMS[problem], horizon=points[-1], runs=runs, seed=1, checkpoints=points)
    return np.array([run.regret for run in results])


def lead(better: npt.NDArray[np.float64], worse: npt.NDArray[np.float64]) -> float:
    """By how many standard errors the mean of one sample is below that of the other."""
    error = math.sqrt(better.var(ddof=1) / len(better) + worse.var(ddof=1) / len(worse))
    return float((worse.mean() - better.mean()) / error)


def test_cycle_self_sparring_is_an_order_worse() -> None:
    """After 1e6 duels: 2970 +- 120 against 200 +- 9."""
    ratio = curves("SelfSparring", "cycle", 8)[:, 2].mean() / curves("MergeDTS", "cycle", 100)[:, 2].mean()
    assert ratio > 5


def test_cycle_merge_rucb_is_at_or_below_merge_dts() -> None:
    """After 1e5 duels, when nearly all have converged: 175 +- 12 against 199 +- 9.

    Later, one run in a hundred of MergeRUCB has lost the winner, and pays for it for ever: its mean then says nothing.
    """
    assert lead(curves("MergeRUCB", "cycle", 200)[:, 1], curves("MergeDTS", "cycle", 100)[:, 1]) > -2


def test_cycle_rmed1_is_below_merge_dts_at_first() -> None:
    """After 3e4 duels: 70 +- 6 against 138 +- 3. Its regret goes on with log t, though: 250 against 200 after 1e6.

    In the paper RMED1 stays below up to 1e7 duels. That did not come out here, and we do not know why; the authors'
    program plays another rule (the second arm is always the toughest opponent).
    """
    assert lead(curves("RMED1", "cycle", 40)[:, 0], curves("MergeDTS", "cycle", 100)[:, 0]) > 4


def test_cycle_dts_is_worse_than_merge_dts() -> None:
    """After 1e5 duels: 460 +- 10 against 199 +- 9; the paper: only RMED1 and MergeRUCB outperform MergeDTS."""
    assert lead(curves("MergeDTS", "cycle", 100)[:, 1], curves("DTS", "cycle", 8, last=1)[:, 1]) > 4


def test_cycle2_self_sparring_is_good() -> None:
    """After 1e6 duels: 680 +- 26 against 1190 +- 31 of MergeDTS."""
    assert lead(curves("SelfSparring", "cycle2", 8)[:, 2], curves("MergeDTS", "cycle2", 100)[:, 2]) > 4


def test_cycle2_rmed1_goes_on_where_merge_dts_stops() -> None:
    """RMED1: 890 +- 35 after 1e5 duels, 1000 after 1e6, 1100 after 1e7; MergeDTS: 1190 +- 31, and no more.

    The paper finds RMED1 worse than MergeDTS here. Up to 1e7 duels that did not come out, and we do not know why.
    """
    rmed1, merge_dts = curves("RMED1", "cycle2", 40), curves("MergeDTS", "cycle2", 100)
    assert rmed1[:, 2].mean() > rmed1[:, 1].mean() + 50
    assert (merge_dts[:, 2] == merge_dts[:, 1]).all()


@pytest.mark.parametrize("bandit", ["MergeDTS", "RMED1", "SelfSparring"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_winner_is_found(bandit: str, problem: str) -> None:
    runs = rd.simulate_runs(bandit, PROBLEMS[problem], horizon=300_000, runs=6, seed=3)
    assert [run.champion for run in runs].count(0) >= (4 if bandit == "SelfSparring" and problem == "cycle" else 5)
