"""Evidence against rankers as a share of the evidence that eliminates them: the unit of all pages and reports."""

import math

from rankduel.live import Departure, View

__all__ = ["enough_at_elimination", "evidence_share"]


def evidence_share(evidence: float | None, enough: float | None, *, eliminated: bool) -> float | None:
    """Return the evidence against a ranker, from 0 to 1 (eliminated). None if the elimination rule keeps no evidence.

    `enough` is the evidence that eliminates a ranker. Both are natural logarithms.

    >>> evidence_share(1.5, 3.0, eliminated=False), evidence_share(1.5, None, eliminated=True)
    (0.5, None)
    """
    if evidence is None or enough is None:
        return None
    return 1.0 if eliminated else min(1.0, max(0.0, evidence / enough))


def enough_at_elimination(view: View, gone: Departure) -> float | None:
    """Return the evidence that was enough when a ranker was eliminated, as a natural logarithm.

    With a tolerance, it depends on the number of rankers that were left at that time. It is unknown (None) if an
    operator added or retired rankers.
    """
    if view.enough is None or gone.evidence is None or view.decision.confidence.tolerance is None:
        return view.enough
    enough = view.enough + math.log((gone.left + 1) / len(view.alive))
    return None if view.retired or enough > gone.evidence else enough
