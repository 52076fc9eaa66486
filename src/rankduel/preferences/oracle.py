"""Lower bound on the regret of any certified elimination: an oracle that knows all preferences."""

import math

import numpy as np

from rankduel.preferences.arrays import Floats
from rankduel.preferences.matrix import PreferenceMatrix
from rankduel.preferences.regret import Problem
from rankduel.preferences.utilities import Utilities

__all__ = ["oracle_bound"]

_PAIRS_PER_BLOCK = 4_000_000  # 32 MB per array


def oracle_bound(problem: Problem, delta: float = 0.01) -> float:
    """Lower bound on the average regret of eliminating all arms but the winner by evidence of log(1 / delta).

    The oracle knows all p_ij. Each arm i meets the opponent j with the cheapest evidence. A duel costs
    (gap_i + gap_j) / 2 and adds KL(p_ij, 1/2) to the evidence against i, which has to reach log(1 / delta). Raises a
    ValueError if there is no Condorcet winner.

    >>> from rankduel.preferences.problems import cycle2, utilities
    >>> round(oracle_bound(cycle2(), 0.01)), round(oracle_bound(utilities(1_000_000), 0.05), -4)
    (217, 1150000.0)
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be > 0 and < 1, got {delta!r}")
    prices = _bradley_terry(problem) if isinstance(problem, Utilities) else _any(problem)
    return math.log(1 / delta) * float(prices[np.arange(problem.n_arms) != problem.condorcet_winner].sum())


def _any(problem: PreferenceMatrix) -> Floats:
    """The lowest regret per unit of evidence against each arm, computed in blocks of rows."""
    gaps, K = problem.gaps, problem.n_arms
    prices, step = np.full(K, np.inf), max(1, _PAIRS_PER_BLOCK // K)
    for start in range(0, K, step):
        rows = slice(start, start + step)
        evidence = _evidence(problem.probabilities[rows])
        harm = (gaps[rows, None] + gaps) / 2
        price = np.divide(harm, evidence, out=np.full(harm.shape, np.inf), where=evidence > 0)
        prices[rows] = price.min(axis=1)
    return prices


def _bradley_terry(problem: Utilities) -> Floats:
    """The same in O(K). The winner is the cheapest opponent: its gap is 0, and it beats each arm most clearly."""
    gaps = problem.gaps
    evidence = _evidence(0.5 - gaps)
    return np.asarray(np.divide(gaps / 2, evidence, out=np.full(gaps.shape, np.inf), where=evidence > 0))


def _evidence(p: Floats) -> Floats:
    """KL(p, 1/2): mean evidence of a duel against an arm that wins it with probability p. It is 0 if p >= 1/2."""
    p = np.minimum(p, 0.5)
    won = np.log(np.where(p > 0, 2 * p, 1))  # p = 0 gives 0 log 0 = 0
    return np.asarray(p * won + (1 - p) * np.log1p(1 - 2 * p))
