"""Exact maximin strategy of a symmetric game, by the simplex method on a dense condensed tableau."""

import numpy as np

from rankduel.preferences.arrays import Floats

__all__ = ["maximin"]

_ROUNDING_ERROR = 1e-10  # payoffs are scaled to [-1, 1]; smaller values count as 0
_MAX_STALLED_PIVOTS = 50  # pivots without progress before Bland's rule, which never cycles, takes over


def maximin(payoff: Floats) -> Floats:
    """Return a mixed strategy x that no arm beats: x @ payoff >= 0, for a payoff with payoff.T == -payoff.

    Let B = payoff / max|payoff| + 2 > 0. A solution of "maximise sum(y) subject to B y <= 1, y >= 0", divided by its
    sum, is optimal for the column player. The game is symmetric, so it is also optimal for the row player.

    >>> maximin(np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    K = len(payoff)
    tableau = np.ones((K + 1, K + 1))
    tableau[:K, :K] = payoff / (np.abs(payoff).max() or 1.0) + 2.0
    tableau[K] = -1.0  # reduced costs of the free variables; the last entry is the objective
    tableau[K, K] = 0.0
    free = np.arange(K)  # variables at zero, one per column: 0..K-1 are y, K..2K-1 the slacks
    basic = np.arange(K, 2 * K)  # variables of the current solution, one per row
    stalled = 0
    for _ in range(1000 * (K + 10)):
        improving = np.flatnonzero(tableau[K, :K] < -_ROUNDING_ERROR)
        if not improving.size:
            solution = np.zeros(2 * K)
            solution[basic] = tableau[:K, K]
            strategy = np.maximum(solution[:K], 0.0)
            return np.asarray(strategy / strategy.sum())
        by_bland = stalled > _MAX_STALLED_PIVOTS
        column = improving[(free[improving] if by_bland else tableau[K, improving]).argmin()]
        bounding = np.flatnonzero(tableau[:K, column] > _ROUNDING_ERROR)
        ratios = tableau[bounding, K] / tableau[bounding, column]
        tied = bounding[ratios <= ratios.min() + 1e-12]
        row = tied[(basic[tied] if by_bland else -tableau[tied, column]).argmin()]
        before = tableau[K, K]
        _pivot(tableau, row, column)
        basic[row], free[column] = free[column], basic[row]
        stalled = 0 if tableau[K, K] > before + 1e-12 else stalled + 1
    raise ArithmeticError(f"found no maximin strategy for {K} arms: the simplex method did not converge")


def _pivot(tableau: Floats, row: np.intp, column: np.intp) -> None:
    """Exchange one basic and one free variable, in place."""
    pivot = tableau[row, column]
    others = tableau[:, column].copy()
    others[row] = 0.0
    tableau[row] /= pivot
    tableau[:, column] = 0.0
    tableau[row, column] = 1.0 / pivot
    tableau -= np.outer(others, tableau[row])
