"""Forecast the number of duels to a decision: simulate the tournament from its current state."""

from dataclasses import dataclass
from time import thread_time

import numpy as np

from rankduel.bandits import Bandit
from rankduel.live.ratings import Ratings
from rankduel.preferences import Utilities
from rankduel.simulation import simulate

__all__ = ["Forecast", "forecast"]

_RUNS = 5
_HORIZON_DUELS = 20_000_000  # a run without a decision by then is given up
_CPU_SECONDS = 2.0  # for all runs


@dataclass(frozen=True, slots=True)
class Forecast:
    """Duels to a decision: median, minimum and maximum of the simulated runs. Null if they took too long."""

    duels: int | None
    least: int | None
    most: int | None
    runs: int  # that reached a decision


class _TooLong(Exception):  # noqa: N818 - no error
    pass


def forecast(
    kind: type[Bandit], snapshot: bytes, rated: Ratings, *, resolved: int, seconds: float = _CPU_SECONDS
) -> Forecast:
    """Simulate a bandit from a snapshot until it decides. Return the duels after the first `resolved` ones.

    Each run draws its own true preferences from the ratings and their deviations. All runs together take at most
    `seconds` of CPU. Other threads can run meanwhile.
    """
    deadline = thread_time() + seconds
    ends: list[int] = []
    random = np.random.default_rng(0)

    def watch(play: object) -> None:
        if thread_time() > deadline:
            raise _TooLong

    for run in range(_RUNS):
        bandit = kind.restore(snapshot)
        if bandit.n_alive == 1 or bandit.tied:
            return Forecast(0, 0, 0, _RUNS)
        told_before = bandit.told
        try:
            played = simulate(
                bandit,
                Utilities(random.normal(*rated)),
                horizon=_HORIZON_DUELS,
                checkpoints=[_HORIZON_DUELS],
                seed=run,
                kind="copeland",
                watch=watch,
            )
        except _TooLong:
            break
        if played.converged_at is None:
            break
        ends.append(max(0, told_before + played.converged_at - resolved))
    if not ends:
        return Forecast(None, None, None, 0)
    return Forecast(round(float(np.median(ends))), min(ends), max(ends), len(ends))
