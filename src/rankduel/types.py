"""The values that rooms hand to each other."""

from enum import Enum
from typing import NamedTuple

__all__ = ["Duel", "MultiDuel", "Outcome"]


class Outcome(Enum):
    """Who won a duel. Never a bool: a tie is neither.

    >>> Outcome("first") is Outcome.FIRST
    True
    """

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


class Duel(NamedTuple):
    """Two arms that meet once: what `ask` hands out and `tell` takes back.

    `number` counts the asks of one bandit from 1. `propensity` is there for bandits that must know, when the outcome
    comes, how likely each side was to be chosen.

    >>> Duel(1, first=4, second=2)
    Duel(number=1, first=4, second=2, propensity=None)
    """

    number: int
    first: int
    second: int
    propensity: tuple[float, float] | None = None


class MultiDuel(NamedTuple):
    """Some arms that meet at once, each named once: the same for a `MultiBandit`.

    >>> MultiDuel(1, arms=(4, 2, 7))
    MultiDuel(number=1, arms=(4, 2, 7))
    """

    number: int
    arms: tuple[int, ...]
