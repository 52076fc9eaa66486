"""Leaderboard: for each ranker its rating, its record, the interval of its wins, and the evidence against it."""

import math
from dataclasses import dataclass

import numpy as np

from rankduel.dashboard.evidence import evidence_share
from rankduel.live import View

__all__ = ["INTERVAL_CONFIDENCE", "LeaderboardRow", "interval", "leaderboard"]

INTERVAL_CONFIDENCE = 0.95  # of the intervals
_MIXTURE_VARIANCE = 25.0  # of a duel: 1/4. Intervals are tightest after about 800 duels


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A row of the leaderboard. `state` is champion, left, paused, eliminated or retired.

    `rating` is the estimated probability to win a duel against an average ranker, with a tie as half a win. It takes
    into account which opponents the ranker met, and orders the leaderboard. `win_share` is the share of its decisive
    duels (no ties) that the ranker won. The interval of `win_share` from `low` to `high` holds whenever you look.
    `evidence` is a share of the evidence that eliminates. It is null if the elimination rule keeps no evidence.
    """

    ranker: str
    state: str
    rating: float
    wins: int
    losses: int
    ties: int
    win_share: float  # 1/2 without decisive duels
    tie_share: float  # of all duels
    low: float
    high: float
    evidence: float | None  # against it: from 0 to 1 (eliminated)
    batch: int | None  # counted from 1


def interval(rate: float, duels: int) -> tuple[float, float]:
    """Return bounds on the mean win probability over the decisive duels played: a 95 % confidence sequence.

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
    """Return all rankers: the champion, the others left, the eliminated, the retired; each group by rating."""
    batch_of = {arm: number for number, batch in enumerate(view.batches or (), 1) for arm in batch}
    records, rated = view.records.tolist(), (1 / (1 + np.exp(-view.ratings.means))).tolist()
    evidence = [None] * len(records) if view.evidence is None else view.evidence.tolist()

    def row(arm: int) -> LeaderboardRow:
        wins, losses, ties = records[arm]
        decisive, state = wins + losses, view.state_of(arm)
        win_share = wins / decisive if decisive else 0.5
        tie_share = ties / (decisive + ties) if ties else 0.0
        low, high = interval(win_share, decisive)
        against = evidence_share(evidence[arm], view.enough, eliminated=state == "eliminated")
        return LeaderboardRow(
            view.names[arm], state, rated[arm], wins, losses, ties, win_share, tie_share, low, high, against,
            batch_of.get(arm),
        )  # fmt: skip

    return [row(arm) for arm in view.order]
