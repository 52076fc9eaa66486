"""A coin says who is first, whatever the bandit: the sides are even, and the bandit learns as if there was no coin."""

from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import numpy as np
import pytest

from rankduel.bandits import REGISTRY
from rankduel.live.rules.events import Event
from rankduel.live.runtime.side_coin import SideCoin
from rankduel.live.runtime.state import State
from rankduel.live.settings import Settings
from rankduel.types import Outcome

DUELS = 2_000
TRUE = np.array([1.5, 0.5, 0.5, 0.3, 0.0, 0.0])  # utilities
NAMES = tuple("abcdef")


def played(bandit: str, *, told_as_shown: bool = False) -> tuple[State, int, int]:
    """A tournament in memory; how often the first and the second won."""
    state = State(Settings(NAMES, bandit, 1, "team_draft", 60.0, ""))
    random = np.random.default_rng(1)
    wins = {Outcome.FIRST: 0, Outcome.SECOND: 0}
    for number in range(DUELS):
        first, second, odds, _ = state.choose(f"1-{number}")
        low, high = sorted((first, second))
        winner = low if random.random() < 1 / (1 + np.exp(TRUE[high] - TRUE[low])) else high
        outcome = Outcome.FIRST if first == winner else Outcome.SECOND
        if first == second:  # a page of one ranker has no sides
            outcome = Outcome.TIE
        else:
            wins[outcome] += 1
        told = {"duel": f"1-{number}", "first": first, "second": second, "outcome": outcome.value}
        if odds is not None:
            told["propensity"] = list(odds)
        with without_a_coin() if told_as_shown else nullcontext():
            state.apply(Event(state.number + 1, 0.0, "resolved", told))
    return state, wins[Outcome.FIRST], wins[Outcome.SECOND]


def without_a_coin() -> AbstractContextManager[object]:
    """Users see the sides of the bandit."""
    return patch.object(SideCoin, "flip", lambda self, id: (False, 0))


def far_from_even(first: int, second: int) -> bool:
    """By more than five standard deviations: happens to a fair coin with a probability of 6e-7."""
    return (first - second) ** 2 > 25 * (first + second)


@pytest.mark.parametrize("bandit", REGISTRY)
def test_sides_are_even_and_nothing_else_has_changed(bandit: str) -> None:
    """Without the coin, bandits that put the better one first, or second, are far from even: see below."""
    state, first, second = played(bandit)
    with without_a_coin():
        plain, *_ = played(bandit)
    assert first + second > 10
    assert not far_from_even(first, second)
    assert state.wins == plain.wins
    assert state.bandit.snapshot() == plain.bandit.snapshot()


def test_without_a_coin_sides_are_not_even() -> None:
    with without_a_coin():
        _, first, second = played("MergeDTS")
    assert far_from_even(first, second)


def test_a_bandit_must_be_told_by_its_own_sides() -> None:
    """Each side of SparringUCB1 has a learner: told as users saw it, they learn each other's outcomes."""
    told, as_shown = played("SparringUCB1"), played("SparringUCB1", told_as_shown=True)
    assert told[0].bandit.snapshot() != as_shown[0].bandit.snapshot()
