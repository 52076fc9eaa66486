"""Confidence sequence for a win probability: an interval that holds at all times at once, by inverting a bet."""

import math

__all__ = ["win_interval"]

_PRIOR = 0.5  # of the mixture of bets: Beta(1/2, 1/2)
_BISECTIONS = 60


def win_interval(wins: int, losses: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return bounds on the probability p to win a decisive duel, from the wins and losses so far.

    The bounds after any number of duels are right, all of them at once, with at least the given probability. So they
    also hold if the results decide when you look and when the duels end. An interval for a fixed number of duels, such
    as p ± 1.96 standard errors, does not.

    A gambler who bets on the outcomes at the odds of p cannot expect to gain. The mixture of all fixed bets, with the
    weights Beta(1/2, 1/2), has the wealth B(wins + 1/2, losses + 1/2) / B(1/2, 1/2) / (p^wins (1 - p)^losses). By
    Ville's inequality, it ever reaches 1 / (1 - confidence) with probability at most 1 - confidence. The interval has
    all p for which it has not.

    >>> low, high = win_interval(541, 459)
    >>> round(low, 3), round(high, 3)
    (0.483, 0.598)
    >>> win_interval(0, 0)
    (0.0, 1.0)
    """
    n = wins + losses
    if not n:
        return 0.0, 1.0
    # p is in the interval if wins log p + losses log (1 - p) is above this.
    bound = _log_beta(wins + _PRIOR, losses + _PRIOR) - _log_beta(_PRIOR, _PRIOR) + math.log(1 - confidence)

    def edge(inside: float, outside: float) -> float:
        for _ in range(_BISECTIONS):
            p = (inside + outside) / 2
            log_likelihood = (wins * math.log(p) if wins else 0.0) + (losses * math.log1p(-p) if losses else 0.0)
            inside, outside = (p, outside) if log_likelihood > bound else (inside, p)
        return outside

    rate = wins / n
    return (edge(rate, 0.0) if wins else 0.0), (edge(rate, 1.0) if losses else 1.0)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
