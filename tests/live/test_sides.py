"""A coin says who is first, whatever the bandit: the sides are even, and the bandit learns as if there was no coin."""

from dataclasses import replace

import numpy as np
import pytest

from rankduel.bandits import REGISTRY
from rankduel.live.events import Event
from rankduel.live.state import Settings, State
from rankduel.types import Outcome

DUELS = 2_000
TRUE = np.array([1.5, 0.5, 0.5, 0.3, 0.0, 0.0])  # utilities
NAMES = tuple("abcdef")


def played(settings: Settings, *, shown: bool = False) -> tuple[State, int, int]:
    """A tournament in memory; how often the first and the second won. With `shown`, the bandit is told as users saw."""
    state = State(settings)
    random = np.random.default_rng(1)
    wins = {Outcome.FIRST: 0, Outcome.SECOND: 0}
    for number in range(DUELS):
        duel = state.choose(f"1-{number}")
        low, high = sorted((duel.first, duel.second))
        winner = low if random.random() < 1 / (1 + np.exp(TRUE[high] - TRUE[low])) else high
        outcome = Outcome.FIRST if duel.first == winner else Outcome.SECOND
        if duel.first == duel.second:  # a page of one ranker has no sides
            outcome = Outcome.TIE
        else:
            wins[outcome] += 1
        told = {"duel": f"1-{number}", "first": duel.first, "second": duel.second, "outcome": outcome.value}
        if duel.propensity is not None:
            told["propensity"] = list(duel.propensity)
        if shown:
            state.settings = replace(settings, tossed=False)
        state.apply(Event(state.number + 1, 0.0, "told", told))
        state.settings = settings
    return state, wins[Outcome.FIRST], wins[Outcome.SECOND]


def settings_of(bandit: str, *, tossed: bool) -> Settings:
    return Settings(NAMES, bandit, 1, "team_draft", 60.0, "", tossed)


def far_from_even(first: int, second: int) -> bool:
    """By more than five standard deviations: happens to a fair coin with a probability of 6e-7."""
    return (first - second) ** 2 > 25 * (first + second)


@pytest.mark.parametrize("bandit", REGISTRY)
def test_sides_are_even_and_nothing_else_has_changed(bandit: str) -> None:
    """Without the coin, bandits that put the better one first, or second, are far from even: see below."""
    state, first, second = played(settings_of(bandit, tossed=True))
    plain, *_ = played(settings_of(bandit, tossed=False))
    assert first + second > 10
    assert not far_from_even(first, second)
    assert state.wins == plain.wins
    assert state.bandit.snapshot() == plain.bandit.snapshot()


def test_without_a_coin_sides_are_not_even() -> None:
    _, first, second = played(settings_of("MergeDTS", tossed=False))
    assert far_from_even(first, second)


def test_a_bandit_must_be_told_by_its_own_sides() -> None:
    """Each side of SparringUCB1 has a learner: told as users saw it, they learn each other's outcomes."""
    settings = settings_of("SparringUCB1", tossed=True)
    assert played(settings)[0].bandit.snapshot() != played(settings, shown=True)[0].bandit.snapshot()


def test_older_tournaments_have_no_coin() -> None:
    stored = settings_of("Uniform", tossed=True).to_dict()
    del stored["tossed"]
    assert not Settings.from_dict(stored).tossed
