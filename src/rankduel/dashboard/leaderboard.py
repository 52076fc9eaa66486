"""The leaderboard: each ranker with its record, an interval for its share of wins, and the evidence against it."""

import math
from dataclasses import dataclass

from rankduel.live import View

__all__ = ["INTERVAL_CONFIDENCE", "LeaderboardRow", "interval", "leaderboard"]

INTERVAL_CONFIDENCE = 0.95  # of the intervals
_PRIOR_DUELS = 20  # even duels that every ranker is given for the order, so that one lucky duel puts nobody on top
_MIXTURE_VARIANCE_DUELS = 25.0  # the variance, in units of one duel's, near which intervals are as narrow as can be


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A ranker. `state` is champion, left, paused, out or retired; the interval holds at any time."""

    ranker: str
    state: str
    wins: int
    losses: int
    ties: int
    rate: float
    low: float
    high: float
    evidence: float | None  # against it, a natural logarithm
    batch: int | None  # from 1 on


def interval(rate: float, duels: int) -> tuple[float, float]:
    """Bounds on the mean chance to win over all duels played: right at all times with probability 0.95 at least.

    Robbins' normal mixture for a martingale with steps in [0, 1]; whoever chose the opponents.

    >>> low, high = interval(0.6, 1_000)
    >>> round(low, 3), round(high, 3)
    (0.552, 0.648)
    """
    if not duels:
        return 0.0, 1.0
    variance = duels / 4 + _MIXTURE_VARIANCE_DUELS
    radius = (
        math.sqrt(
            variance * (math.log(variance / _MIXTURE_VARIANCE_DUELS) + 2 * math.log(1 / (1 - INTERVAL_CONFIDENCE)))
        )
        / duels
    )
    return max(0.0, rate - radius), min(1.0, rate + radius)


def leaderboard(view: View) -> list[LeaderboardRow]:
    """All rankers: the champion, others that are left by their wins, those that are out from the last one on."""
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
