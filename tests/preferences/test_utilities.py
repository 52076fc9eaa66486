import math
import pickle

import numpy as np
import pytest

from rankduel.preferences import Utilities
from rankduel.preferences.problems import utilities


def test_the_chance_is_bradley_terry() -> None:
    problem = Utilities(np.array([0.3, -1.2, 2.0]))
    for i in range(3):
        for j in range(3):
            expected = 1 / (1 + math.exp(problem.utilities[j] - problem.utilities[i]))
            assert problem.probability(i, j) == pytest.approx(expected, rel=1e-14)
            assert problem.matrix().probabilities[i, j] == pytest.approx(expected, rel=1e-14)


def test_far_apart_is_certain_and_not_an_overflow() -> None:
    problem = Utilities(np.array([-1e6, 1e6]))
    assert (problem.probability(1, 0), problem.probability(0, 1)) == (1.0, 0.0)
    assert problem.gaps.tolist() == [0.5, 0.0]


def test_winners_agree_with_the_matrix_ties_included() -> None:
    draw = np.random.default_rng(5)
    winners = set()
    for _ in range(50):
        problem = Utilities(draw.integers(0, 5, 6).astype(float))
        matrix = problem.matrix()
        assert problem.condorcet_winner == matrix.condorcet_winner
        assert problem.copeland_winners == matrix.copeland_winners
        assert problem.copeland_scores.tolist() == matrix.copeland_scores.tolist()
        assert problem.smallest_gap == (matrix.smallest_gap and pytest.approx(matrix.smallest_gap))
        winners.add(problem.condorcet_winner)
    assert winners == {None, 0, 1, 2, 3, 4, 5}


def test_a_shared_best_utility_has_no_gaps() -> None:
    with pytest.raises(ValueError, match="gaps need a Condorcet winner, but 2 arms share the highest utility"):
        _ = Utilities(np.array([1.0, 0.0, 1.0])).gaps


def test_a_million_arms() -> None:
    problem = utilities(1_000_000, seed=1)
    assert problem.condorcet_winner is not None
    assert problem.smallest_gap == pytest.approx(0.05)
    assert problem.copeland_scores[problem.condorcet_winner] == 1.0
    assert problem.copeland_scores.sum() == pytest.approx(500_000)
    assert len(problem.fingerprint) == 64
    with pytest.raises(ValueError, match="a matrix of 1,000,000 arms is too large, expected at most 5,000"):
        problem.matrix()


def test_one_arm() -> None:
    problem = Utilities(np.array([3.0]))
    assert (problem.condorcet_winner, problem.smallest_gap, problem.gaps.tolist()) == (0, None, [0.0])


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], 1.0])
def test_utilities_are_one_number_per_arm(values: object) -> None:
    with pytest.raises(ValueError, match="utilities must be one number per arm, got shape"):
        Utilities(np.array(values))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_utilities_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match=f"the utility of arm 1 is {value}, expected a finite number"):
        Utilities(np.array([0.0, value]))


def test_equality_hash_pickle_and_repr() -> None:
    problem, same, other = (Utilities(np.array([0.0, top])) for top in (1.0, 1.0, 2.0))
    assert problem == same
    assert problem != other
    assert problem != problem.matrix()
    assert len({problem, same, other}) == 2
    twin = pickle.loads(pickle.dumps(problem))
    assert twin == problem
    assert not twin.utilities.flags.writeable
    assert repr(problem) == "<Utilities: 2 arms, Condorcet winner 1>"
    assert repr(Utilities(np.zeros(2))) == "<Utilities: 2 arms, no Condorcet winner>"
