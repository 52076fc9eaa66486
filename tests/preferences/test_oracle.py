"""The oracle's bound is what its definition says, for matrices in blocks and for utilities in one step."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import rankduel as rd
from rankduel.preferences import PreferenceMatrix, Utilities, oracle, oracle_bound, problems


def literal(P: np.ndarray[tuple[int, int], np.dtype[np.float64]], delta: float) -> float:
    """The definition, pair by pair."""
    K = len(P)
    winner = next(i for i in range(K) if all(P[i, j] > 0.5 for j in range(K) if j != i))
    total = 0.0
    for i in range(K):
        if i == winner:
            continue
        prices = []
        for j in range(K):
            p = P[i, j]
            if p < 0.5:
                information = (1 - p) * math.log(2 * (1 - p)) + (p * math.log(2 * p) if p > 0 else 0)
                harm = (P[winner, i] - 0.5 + P[winner, j] - 0.5) / 2
                prices.append(harm / information)
        total += min(prices) * math.log(1 / delta)
    return total


PROBLEMS = {
    "cycle, where some never win": problems.cycle(),
    "cycle2": problems.cycle2(),
    "no structure": problems.random_tournament(23, seed=3),
    "web search": problems.web_search(60),
    "useless arms": problems.uninformative(40),
    "two arms": PreferenceMatrix.from_array([[0.5, 0.4], [0.6, 0.5]]),
}


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("delta", [0.01, 0.3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_the_sum_of_the_lowest_prices(
    name: str, delta: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "_PAIRS_PER_BLOCK", block)
    problem = PROBLEMS[name]
    assert oracle_bound(problem, delta) == pytest.approx(literal(problem.probabilities, delta), rel=1e-9)


def test_the_cheapest_opponent_is_not_always_the_winner() -> None:
    problem = problems.random_tournament(23, seed=3)
    gap = 0.05  # of everybody
    p = 0.5 - gap
    information = p * math.log(2 * p) + (1 - p) * math.log(2 * (1 - p))
    assert oracle_bound(problem) < 0.2 * 22 * gap / 2 / information * math.log(100)


@pytest.mark.parametrize("spread", [0.01, 1.0, 5.0])
def test_utilities_have_the_bound_of_their_matrix(spread: float) -> None:
    problem = problems.utilities(80, spread=spread, seed=2)
    assert oracle_bound(problem, 0.05) == pytest.approx(literal(problem.matrix().probabilities, 0.05), rel=1e-9)
    assert oracle_bound(problem, 0.05) == pytest.approx(oracle_bound(problem.matrix(), 0.05), rel=1e-9)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "bound"),
    [("mslr_navigational_136", 2693), ("mslr_perfect_136", 2126), ("mslr_informational_cdc_135", 3508)],
)
def test_known_values(name: str, bound: int, real_matrix: Callable[[str], PreferenceMatrix]) -> None:
    assert round(oracle_bound(real_matrix(name), 0.01)) == bound


def test_known_values_of_cycles() -> None:
    assert round(oracle_bound(problems.cycle(), 0.01)) == 1
    assert round(oracle_bound(problems.cycle2())) == 217


def test_one_arm_costs_nothing() -> None:
    assert rd.oracle_bound(PreferenceMatrix.from_array([[0.5]])) == 0
    assert rd.oracle_bound(Utilities(np.zeros(1))) == 0


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan])
def test_delta_is_a_probability(delta: float) -> None:
    with pytest.raises(ValueError, match=re.escape(f"delta must be > 0 and < 1, got {delta!r}")):
        oracle_bound(problems.cycle2(), delta)


@pytest.mark.parametrize("problem", [problems.two_winners(), Utilities(np.zeros(3))])
def test_without_a_winner_there_is_no_bound(problem: PreferenceMatrix | Utilities) -> None:
    with pytest.raises(ValueError, match="gaps need a Condorcet winner"):
        oracle_bound(problem)
