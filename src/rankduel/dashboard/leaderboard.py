"""Leaderboard: for each ranker its record, the interval of its win rate, and the evidence against it."""

import math
from dataclasses import dataclass

from rankduel.live import View

__all__ = ["INTERVAL_CONFIDENCE", "LeaderboardRow", "interval", "leaderboard"]

INTERVAL_CONFIDENCE = 0.95  # of the intervals
_PRIOR_DUELS = 20  # even duels added to each ranker for the order, so that one lucky duel puts no ranker on top
_MIXTURE_VARIANCE = 25.0  # of a duel: 1/4. Intervals are tightest after about 800 duels


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A row of the leaderboard. `state` is champion, left, paused, out (eliminated) or retired.

    The interval from `low` to `high` holds whenever you look. `evidence` is a natural logarithm. It is null if the
    elimination rule keeps no evidence.
    """

    ranker: str
    state: str
    wins: int
    losses: int
    ties: int
    rate: float  # share of its duels that it won, ties counted half
    low: float
    high: float
    evidence: float | None  # against it
    batch: int | None  # counted from 1


def interval(rate: float, duels: int) -> tuple[float, float]:
    """Return bounds on the mean win probability over the duels played: a 95 % confidence sequence.

    All bounds, after any number of duels, are right with probability at least 0.95, however the opponents were chosen.
    They are from Robbins' normal mixture for martingales with steps of length at most 1.

    >>> low, high = interval(0.6, 1_000)
    >>> round(low, 3), round(high, 3)
    (0.552, 0.648)
    """
    if not duels:
        return 0.0, 1.0
    variance = duels / 4 + _MIXTURE_VARIANCE
    radius = (
        math.sqrt(variance * (math.log(variance / _MIXTURE_VARIANCE) + 2 * math.log(1 / (1 - INTERVAL_CONFIDENCE))))
        / duels
    )
    return max(0.0, rate - radius), min(1.0, rate + radius)


def leaderboard(view: View) -> list[LeaderboardRow]:
    """Return all rankers: the champion, the others left by win rate, then the eliminated, latest first."""
    batch_of = {arm: number for number, batch in enumerate(view.batches or (), 1) for arm in batch}
    records, rates = view.records.tolist(), view.rates.tolist()
    won, _, tied = view.records.T
    duels = view.records.sum(1)
    played = duels.tolist()
    evidence = [None] * len(records) if view.evidence is None else view.evidence.tolist()

    def row(arm: int) -> LeaderboardRow:
        wins, losses, ties = records[arm]
        low, high = interval(rates[arm], played[arm])
        return LeaderboardRow(
            view.names[arm], view.state_of(arm), wins, losses, ties, rates[arm], low, high, evidence[arm],
            batch_of.get(arm),
        )  # fmt: skip

    return [row(arm) for arm in view.ordered_by((won + tied / 2 + _PRIOR_DUELS / 2) / (duels + _PRIOR_DUELS))]
