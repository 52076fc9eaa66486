"""Optimized Interleaving: known solutions of its linear program, no bias at any position. Nothing here is random."""

import sys
from itertools import product

import pytest

from rankduel import Outcome
from rankduel.interleaving import OptimizedInterleaving
from rankduel.interleaving.optimized_plan import allowed, credits_of, plan, sensitivity

ABCD, BDCA = (0, 1, 2, 3), (1, 3, 2, 0)


def probabilities(first: tuple[int, ...], second: tuple[int, ...], credit: str) -> dict[str, float]:
    lists, chances, _ = plan(first, second, 4, credit)
    return {"".join("abcd"[d] for d in shown): chance for shown, chance in zip(lists, chances, strict=True)}


@pytest.mark.parametrize(
    ("first", "second", "credit", "expected"),
    [
        (ABCD, BDCA, "linear", {"abdc": 0.25, "badc": 0.35, "bdac": 0.40}),
        (ABCD, BDCA, "inverse", {"abdc": 0.40, "badc": 0.35, "bdac": 0.25}),
        ((0, 1, 2), (1, 2, 0), "linear", {"abc": 1 / 3, "bac": 1 / 3, "bca": 1 / 3}),
    ],
)
def test_golden_lists(first: tuple[int, ...], second: tuple[int, ...], credit: str, expected: dict[str, float]) -> None:
    assert probabilities(first, second, credit) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("credit", ["linear", "inverse", "binary"])
@pytest.mark.parametrize("second", [(1, 2, 3, 0), (3, 2, 1, 0), BDCA, (0, 1, 3, 2)])
def test_least_bias_at_each_position(second: tuple[int, ...], credit: str) -> None:
    lists, chances, worth = plan(ABCD, second, 4, credit)
    assert sum(chances) == pytest.approx(1)
    assert set(lists) <= set(allowed(ABCD, second, 4))
    biases = [
        sum(chance * worth[shown[position]] for shown, chance in zip(lists, chances, strict=True))
        for position in range(4)
    ]
    # On a page with all documents the biases sum up to what all of them are worth: nothing but for "binary".
    least = abs(sum(worth.values()))
    assert sum(map(abs, biases)) == pytest.approx(least, abs=1e-7)
    assert least == pytest.approx(0) or credit == "binary"


def test_allowed_lists() -> None:
    assert allowed((0, 1, 2), (1, 2, 0), 3) == [(0, 1, 2), (1, 0, 2), (1, 2, 0)]
    assert allowed((0, 1), (0, 1), 5) == [(0, 1)]
    assert allowed((), (4, 5), 1) == [(4,)]


@pytest.mark.parametrize("credit", ["linear", "inverse", "binary"])
def test_credit_is_of_whom_has_it_higher(credit: str) -> None:
    worth = credits_of((0, 1, 2), (1, 2, 0), 3, credit)
    assert worth[0] > 0 > worth[1]
    assert max(map(abs, worth.values())) == pytest.approx(1 / 3)
    swapped = credits_of((1, 2, 0), (0, 1, 2), 3, credit)
    assert all(swapped[d] == -worth[d] for d in worth)
    method = OptimizedInterleaving(credit=credit)
    shown = method.interleave("abc", "bca", seed=1)
    assert method.outcome(shown, "a") is Outcome.FIRST
    assert method.outcome(shown, "b") is Outcome.SECOND
    assert method.outcome(shown, "abc") is (Outcome.SECOND if credit == "binary" else Outcome.TIE)


def test_sensitivity() -> None:
    assert sensitivity([1, 0, 0]) == sensitivity([0, 0]) == 0
    # A click on 1 of 2 is at the top with probability 2/3.
    assert sensitivity([1, -1]) == pytest.approx(0.9182958)


def test_where_bias_cannot_be_avoided_it_is_least() -> None:
    method = OptimizedInterleaving()
    assert method.interleave([], "abc", k=2, seed=1).documents == ("a", "b")
    # Whichever is first shown, one position helps a side; evenly mixed, none does.
    lists, chances, worth = plan((0, 1), (2, 3), 2, "linear")
    for position in range(2):
        assert sum(p * worth[shown[position]] for shown, p in zip(lists, chances, strict=True)) == pytest.approx(
            0, abs=1e-8
        )
    lists, chances, worth = plan((0, 1, 2), (0, 3), 3, "binary")
    assert sum(chances) == pytest.approx(1)


def test_blind_clicks_are_worth_nothing() -> None:
    lists, chances, worth = plan(ABCD, BDCA, 4, "linear")
    click = [0.9, 0.5, 0.2, 0.1]
    expected = 0.0
    for (shown, chance), clicks in product(zip(lists, chances, strict=True), product([0, 1], repeat=4)):
        p = chance
        for clicked, c in zip(clicks, click, strict=True):
            p *= c if clicked else 1 - c
        expected += p * sum(worth[d] for d, clicked in zip(shown, clicks, strict=True) if clicked)
    assert expected == pytest.approx(0, abs=1e-8)


@pytest.mark.slow
def test_too_many_lists() -> None:
    with pytest.raises(ValueError, match="smaller k"):
        OptimizedInterleaving().interleave(range(40), range(100, 140), k=40)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"rankduel\[optimized\]"):
        OptimizedInterleaving().interleave(["x", "y", "z", "u", "v"], ["v", "u", "x", "y", "z"], k=5)
