"""Shared code of all checks: an easy problem, outcomes in Python, and the state of a bandit for comparisons."""

import io
import json
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from rankduel.bandits import Bandit
from rankduel.preferences import PreferenceMatrix
from rankduel.randomness import generator
from rankduel.types import Duel, Outcome

__all__ = [
    "Coin",
    "Factory",
    "Trace",
    "arms_of",
    "ladder",
    "play",
    "require",
    "require_error",
    "require_same_answers",
    "require_same_future",
    "require_same_state",
    "state",
]

Trace = list[Duel]


class Factory(Protocol):
    """Creates a bandit: a class, or a function that sets parameters."""

    def __call__(self, n_arms: int, /, *, seed: int) -> Bandit: ...


def require(condition: object, message: str) -> None:
    """Like `assert`, but also active under `python -O`."""
    if not condition:
        raise AssertionError(message)


def require_error(errors: type[Exception] | tuple[type[Exception], ...], what: str, call: Callable[[], object]) -> None:
    """Check that the call raises one of the errors, with a message."""
    names = " or ".join(error.__name__ for error in (errors if isinstance(errors, tuple) else (errors,)))
    try:
        call()
    except errors as error:
        require(str(error), f"{what}: {type(error).__name__} has no message")
    except Exception as error:
        raise AssertionError(f"{what}: expected {names}, got {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{what}: expected {names}, got no error")


def ladder(n_arms: int) -> PreferenceMatrix:
    """Create an easy problem: arm 0 is the best, and each arm wins 3 : 1 against the next one."""
    rank = np.arange(n_arms)
    return PreferenceMatrix.from_array(1 / (1 + 3.0 ** (rank[:, None] - rank)))


class Coin:
    """Draws outcomes from a matrix, with the same random stream as `MatrixWorld`."""

    def __init__(self, problem: PreferenceMatrix, seed: int) -> None:
        self._chances = problem.probabilities
        self._draws = generator(seed, "world")

    def __call__(self, duel: Duel) -> Outcome:
        return Outcome.FIRST if self._draws.random() < self._chances[duel.first, duel.second] else Outcome.SECOND


def play(bandit: Bandit, coin: Callable[[Duel], Outcome], n_duels: int) -> Trace:
    """Ask and tell n_duels times."""
    trace = []
    for _ in range(n_duels):
        duel = bandit.ask()
        bandit.tell(duel, coin(duel))
        trace.append(duel)
    return trace


def arms_of(trace: Iterable[Duel]) -> list[tuple[int, int]]:
    """The arms of each duel, without numbers and propensities."""
    return [(duel.first, duel.second) for duel in trace]


def state(bandit: Bandit) -> dict[str, Any]:
    """All values of a snapshot, by name."""
    with np.load(io.BytesIO(bandit.snapshot()), allow_pickle=False) as file:
        arrays = dict(file)
    return {**json.loads(str(arrays.pop("header"))), **arrays}


def require_same_state(one: dict[str, Any], other: dict[str, Any], what: str) -> None:
    """Check that two states have the same values."""
    require(one.keys() == other.keys(), f"{what}: the states have different fields, {sorted(one)} and {sorted(other)}")
    different = [name for name in one if not _same(one[name], other[name])]
    require(not different, f"{what}: the states differ in {', '.join(different)}")


def require_same_future(one: Bandit, other: Bandit, coin: Callable[[Duel], Outcome], what: str, n: int = 150) -> None:
    """Check that two bandits return the same duels for the same outcomes, and end in the same state."""
    for step in range(1, n + 1):
        duel, twin = one.ask(), other.ask()
        require(duel == twin, f"{what}: ask {step} after that returns {duel} and {twin}, expected the same duel")
        outcome = coin(duel)
        one.tell(duel, outcome)
        other.tell(twin, outcome)
    require_same_state(state(one), state(other), f"{what}, {n} duels later")
    require_same_answers(one, other, f"{what}, {n} duels later")


def require_same_answers(one: Bandit, other: Bandit, what: str) -> None:
    """Check that two bandits have the same counters, arms alive, champion and winner."""
    for name in ("asked", "told", "pending", "n_alive", "alive", "champion", "winner"):
        here, there = getattr(one, name), getattr(other, name)
        require(_same(here, there), f"{what}: {name} is {here} and {there}")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)
