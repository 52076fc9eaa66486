"""Rules of snapshots: each names the array, the value and what was expected."""

from typing import Any

import numpy as np
import pytest

import rankduel as rd
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Rule, Shape, Values, check, check_whole, tree_rules


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        (np.array([0, 5]), Values(0, 5)),
        (np.array([-1.0, 0.5]), Values(0, 1, markers=(-1,))),
        (np.array([1.0, 3.0]), Values(0, 5, whole=True)),
        (np.array([2, 3]), Values(np.array([2, 3]), 9)),
        (7, Equal(7)),
        (np.array([1.0 + 1e-12]), Equal(np.array([1.0]), close=1e-9)),
        (np.zeros((2, 7)), Shape(np.float64, (2, None))),
        (np.array([], np.int64), Values(0, 1)),
    ],
)
def test_what_fits_passes(found: Any, rule: Rule) -> None:
    check([("x", found, rule)])


@pytest.mark.parametrize(
    ("found", "rule", "message"),
    [
        (np.array([0, 6]), Values(0, 5), r"x\[1\] is 6, expected a number from 0 to 5"),
        (np.array([np.nan]), Values(0, 1), r"x\[0\] is nan, expected a number from 0 to 1"),
        (np.array([0.5]), Values(0, 1, whole=True), r"x\[0\] is 0.5, expected a whole number from 0 to 1"),
        (np.array([-2.0]), Values(0, 1, markers=(-1,)), r"x\[0\] is -2.0, expected a number from 0 to 1, or -1"),
        (np.array([[1, 2]]), Equal(np.array([[1, 3]])), r"x\[0, 1\] is 2, expected 3"),
        (np.array([1, 2]), Equal(np.array([1])), r"x is int64\(2,\), expected int64\(1,\)"),
        (np.zeros(3), Shape(np.int64, (3,)), r"x is float64\(3,\), expected int64\(3,\)"),
        (np.zeros((3, 1)), Shape(np.float64, (3,)), r"x is float64\(3, 1\), expected float64\(3,\)"),
    ],
)
def test_what_does_not_fit_is_named(found: Any, rule: Rule, message: str) -> None:
    with pytest.raises(rd.SnapshotError, match=f"^{message}$"):
        check([("x", found, rule)])


def test_rules_are_checked_one_by_one() -> None:
    """A rule that is computed from an array comes after the rule of that array: it is never made from a wrong one."""

    def rules() -> Any:
        yield "n", 7, Values(0, 5)
        raise AssertionError("the second rule was made from a wrong value")

    with pytest.raises(rd.SnapshotError, match="n is 7"):
        check(rules())


@pytest.mark.parametrize("value", [-1, MAX_DUELS + 1, True, 1.0, "1", None])
def test_a_whole_number_of_a_header_is_an_int_of_its_range(value: object) -> None:
    assert check_whole("asked", 3, 0, MAX_DUELS) == 3
    with pytest.raises(rd.SnapshotError, match=r"asked is .*, expected a whole number from 0 to"):
        check_whole("asked", value, 0, MAX_DUELS)


@pytest.mark.parametrize(("place", "value"), [(4, 2.0), (7, 1.0), (1, 5.0), (3, 2.5)])
def test_a_tree_holds_its_leaves_and_their_sums(place: int, value: float) -> None:
    tree = np.array([0.0, 6.0, 3.0, 3.0, 1.0, 2.0, 3.0, 0.0])
    check(tree_rules("tree", tree, np.array([1.0, 2.0, 3.0]), close=1e-9))
    tree[place] = value
    with pytest.raises(rd.SnapshotError, match="tree"):
        check(tree_rules("tree", tree, np.array([1.0, 2.0, 3.0]), close=1e-9))
