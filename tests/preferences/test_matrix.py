import copy
import math
import pickle
import re

import numpy as np
import pytest

from rankduel.preferences import PreferenceMatrix, Summary
from rankduel.preferences.arrays import read_only

THREE = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]


def changed(*entries: tuple[int, int, float]) -> list[list[float]]:
    matrix = copy.deepcopy(THREE)
    for i, j, value in entries:
        matrix[i][j] = value
    return matrix


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([0.5, 0.5], "a preference matrix must be square, got shape (2,)"),
        ([[0.5, 0.5]], "a preference matrix must be square, got shape (1, 2)"),
        (0.5, "a preference matrix must be square, got shape ()"),
        (np.empty((0, 0)), "a preference matrix must have at least one arm, got none"),
        ([["a"]], "a preference matrix must be a square array of numbers: could not convert string to float: 'a'"),
        ([[0.5, 0.5], [0.5]], "a preference matrix must be a square array of numbers: "),
        (changed((1, 2, math.nan)), "P[1, 2] is nan, expected a probability between 0 and 1"),
        (changed((2, 1, -math.inf)), "P[2, 1] is -inf, expected a probability between 0 and 1"),
        (changed((0, 2, 1.2), (2, 0, -0.2)), "P[0, 2] = 1.2, expected a probability between 0 and 1"),
        (changed((2, 0, -0.2), (0, 2, 0.9)), "P[2, 0] = -0.2, expected a probability between 0 and 1"),
        (changed((0, 1, 0.8)), "P[0, 1] + P[1, 0] = 1.2000000000000002, expected 1"),
        (changed((1, 1, 0.0)), "P[1, 1] = 0.0, expected 0.5 on the diagonal"),
        (changed((0, 1, 0.60001)), "P[0, 1] + P[1, 0] = 1.00001, expected 1"),
    ],
)
def test_a_wrong_matrix_is_refused_with_the_entry_that_is_wrong(array: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PreferenceMatrix.from_array(array)  # type: ignore[arg-type]


def test_the_constructor_validates_too() -> None:
    with pytest.raises(ValueError, match=r"P\[0, 1\] \+ P\[1, 0\] = 1.4, expected 1"):
        PreferenceMatrix(np.array([[0.5, 0.7], [0.7, 0.5]]))


def test_within_the_tolerance_the_matrix_is_made_exact() -> None:
    rough = changed((0, 1, 0.62), (1, 1, 0.49), (0, 2, 0.91))
    with pytest.raises(ValueError, match=r"expected 0\.5"):
        PreferenceMatrix.from_array(rough)
    P = PreferenceMatrix.from_array(rough, tolerance=0.021).probabilities
    assert (P - 0.5 == -(P - 0.5).T).all()
    assert (P.diagonal() == 0.5).all()
    assert P[0, 1] == pytest.approx(0.61)
    assert P[0, 2] == pytest.approx(0.905)


def test_a_pair_that_leans_both_ways_within_the_tolerance_is_a_tie() -> None:
    problem = PreferenceMatrix.from_array([[0.5, 0.5000004], [0.5000004, 0.5]])
    assert problem.probabilities[0, 1] == problem.probabilities[1, 0] == 0.5
    assert problem.condorcet_winner is None


def test_rounding_just_outside_the_unit_interval_is_forgiven() -> None:
    P = PreferenceMatrix.from_array([[0.5, 1.0000001], [-0.0000001, 0.5]]).probabilities
    assert P.tolist() == [[0.5, 1.0], [0.0, 0.5]]


def test_decimals_survive_to_the_last_bit() -> None:
    for thousandths in range(500, 1001):
        p = thousandths / 1000
        assert PreferenceMatrix.from_array([[0.5, p], [round(1 - p, 3), 0.5]]).probabilities[0, 1] == p


@pytest.mark.parametrize("tolerance", [-1e-9, 0.5, math.nan])
def test_a_senseless_tolerance_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match=r"tolerance must be at least 0 and below 0\.5"):
        PreferenceMatrix.from_array(THREE, tolerance=tolerance)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "2 names for 3 arms, expected 3"),
        (["a", "b", "a"], "2 arms have the name 'a'; names must be unique"),
        (["a", "b", 3], "names must be strings, got 3"),
    ],
)
def test_wrong_names_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PreferenceMatrix.from_array(THREE, names=names)


def test_nothing_of_it_can_be_changed() -> None:
    source = np.array(THREE)
    problem = PreferenceMatrix(source)
    source[0, 1] = 0.1
    assert problem.probabilities[0, 1] == 0.6
    for array in (
        problem.probabilities,
        problem.copeland_scores,
        problem.borda_scores,
        problem.gaps,
        problem.von_neumann,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        problem.names = ("a", "b", "c")  # type: ignore[misc]


def test_probabilities_are_what_the_compiled_loop_takes() -> None:
    fortran = np.asfortranarray(THREE, dtype=np.float32)
    for P in (PreferenceMatrix.from_array(fortran).probabilities, read_only(fortran)):
        assert P.dtype == np.float64
        assert P.flags.c_contiguous


def test_equality_hash_and_fingerprint_go_by_content() -> None:
    problem, same = PreferenceMatrix.from_array(THREE), PreferenceMatrix.from_array(THREE)
    other = PreferenceMatrix.from_array(changed((0, 1, 0.61), (1, 0, 0.39)))
    with_names = PreferenceMatrix.from_array(THREE, names="abc")
    assert problem == same
    assert hash(problem) == hash(same)
    assert len({problem, same, other, with_names}) == 3
    assert problem != other
    assert problem != with_names
    assert problem != "problem"
    assert re.fullmatch("[0-9a-f]{64}", problem.fingerprint)


def test_the_fingerprint_is_the_same_in_every_process_and_release() -> None:
    """Results are cached under it: a change of this value makes every user compute again."""
    fingerprint = PreferenceMatrix.from_array([[0.5, 0.75], [0.25, 0.5]], names=("a", "b")).fingerprint
    assert fingerprint == "2a03fe45d2e2e69be2418bcefffce6904602d8cd6e5d2a1274586391220eb8a4"


def test_a_pickled_copy_is_equal_and_still_read_only() -> None:
    problem = PreferenceMatrix.from_array(THREE, names="abc")
    assert problem.condorcet_winner == 0
    for twin in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert twin == problem
        assert not twin.probabilities.flags.writeable


def test_repr_and_summary() -> None:
    assert repr(PreferenceMatrix.from_array(THREE)) == "<PreferenceMatrix: 3 arms, Condorcet winner 0>"
    tied = PreferenceMatrix.from_array(np.full((2, 2), 0.5))
    assert repr(tied) == "<PreferenceMatrix: 2 arms, no Condorcet winner>"
    assert tied.summary() == Summary(2, None, None, (0, 1), 0, 0, ((0, 1),))
    gap = PreferenceMatrix.from_array(THREE).smallest_gap
    assert gap == pytest.approx(0.1)
    assert PreferenceMatrix.from_array(THREE).summary() == Summary(3, 0, gap, (0,), 0, 0, ())


def test_subset_takes_arms_in_order_with_their_names() -> None:
    problem = PreferenceMatrix.from_array(THREE, names="abc").subset([2, 0])
    assert problem.names == ("c", "a")
    assert problem.probabilities.round(12).tolist() == [[0.5, 0.1], [0.9, 0.5]]
    for arms in ([0, 3], [-1]):
        with pytest.raises(ValueError, match=f"arms must be from 0 to 2, got {arms[-1]}"):
            PreferenceMatrix.from_array(THREE).subset(arms)
    with pytest.raises(ValueError, match="at least one arm"):
        problem.subset([])


def test_one_arm_is_its_own_winner() -> None:
    problem = PreferenceMatrix.from_array([[0.5]])
    assert problem.summary() == Summary(1, 0, None, (0,), 0, 0, ())
    assert problem.gaps.tolist() == problem.copeland_scores.tolist() == [0.0]
    assert problem.von_neumann.tolist() == [1.0]


def test_without_a_condorcet_winner_there_are_no_gaps() -> None:
    problem = PreferenceMatrix.from_array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])
    assert problem.condorcet_winner is None
    assert problem.smallest_gap is None
    with pytest.raises(ValueError, match="gaps need a Condorcet winner, but no arm beats all others"):
        _ = problem.gaps
