"""Evidence against rankers as a share of the evidence that eliminates them: the unit of all pages and reports."""

import math

from rankduel.dashboard.leaderboard import LeaderboardRow
from rankduel.live import Departure, View

__all__ = ["enough_at_elimination", "evidence_share"]


def evidence_share(row: LeaderboardRow, enough: float | None) -> float | None:
    """Return the evidence against a ranker, from 0 to 1 (eliminated). None if the elimination rule keeps no evidence.

    `enough` is the evidence that eliminates a ranker. Both are natural logarithms.

    >>> row = LeaderboardRow("bm25", "left", 3, 9, 0, 0.25, 0.0, 0.6, 1.5, None)
    >>> evidence_share(row, 3.0), evidence_share(row, None)
    (0.5, None)
    """
    if row.evidence is None or enough is None:
        return None
    return 1.0 if row.state == "out" else min(1.0, max(0.0, row.evidence / enough))


def enough_at_elimination(view: View, gone: Departure) -> float | None:
    """Return the evidence that was enough when a ranker was eliminated, as a natural logarithm.

    With a tolerance, it depends on the number of rankers that were left at that time. It is unknown (None) if an
    operator added or retired rankers.
    """
    if view.enough is None or gone.evidence is None or view.decision.confidence.tolerance is None:
        return view.enough
    enough = view.enough + math.log((gone.left + 1) / len(view.alive))
    return None if view.retired or enough > gone.evidence else enough
