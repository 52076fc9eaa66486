"""Basic values: duels and their outcomes."""

from enum import Enum
from typing import NamedTuple

__all__ = ["Duel", "MultiDuel", "Outcome"]


class Outcome(Enum):
    """The outcome of a duel: the first arm won, the second arm won, or a tie.

    >>> Outcome("first") is Outcome.FIRST
    True
    """

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


class Duel(NamedTuple):
    """Two arms to compare once. `ask` returns a duel, and `tell` takes it back with an outcome.

    `number` counts the asks of one bandit from 1. `propensity` is the probability with which each side was chosen. Only
    bandits that need it to learn from the outcome set it.

    >>> Duel(1, first=4, second=2)
    Duel(number=1, first=4, second=2, propensity=None)
    """

    number: int
    first: int
    second: int
    propensity: tuple[float, float] | None = None


class MultiDuel(NamedTuple):
    """Several different arms to compare at once: the duel of a `MultiBandit`.

    >>> MultiDuel(1, arms=(4, 2, 7))
    MultiDuel(number=1, arms=(4, 2, 7))
    """

    number: int
    arms: tuple[int, ...]
