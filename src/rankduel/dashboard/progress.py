"""Progress of a tournament towards its decision, from 0 to 1. It grows with every duel."""

import math

from rankduel.live import View

__all__ = ["progress"]


def progress(view: View) -> float | None:
    """Return the progress towards the decision. None if the bandit never decides.

    Each halving of the number of remaining rankers counts the same: with 48 rankers, 12 remaining rankers are about a
    third of the way, and 2 are five sixths. Between two eliminations, the number of duels moves the progress on: half
    of the way to the next elimination when the duels have doubled since the last one. The next elimination is reached
    only when it happens, so progress is 1 only with a decision.

    Eliminations are final and duels are only added. So progress shrinks only when an operator adds rankers.
    """
    if not view.ends:
        return None
    left, total = len(view.alive), len(view.names)
    if left == 1 or view.decision.winner is not None or view.decision.tied:
        return 1.0
    eliminated = view.decision.eliminated
    since = max(eliminated[-1].told if eliminated else 0, total)  # at least one duel per ranker
    part = max(0.0, 1 - since / max(1, view.resolved))
    return math.log(total / (left - part)) / math.log(total)
