"""Who is best, in each sense of the literature, and what makes a problem hard. `P[i, j]`: the chance that i beats j."""

import numpy as np
import numpy.typing as npt

from rankduel.preferences.arrays import Floats
from rankduel.preferences.simplex import maximin

__all__ = [
    "borda_scores",
    "condorcet_winner",
    "copeland_scores",
    "copeland_winners",
    "duplicates",
    "three_cycles",
    "von_neumann",
]


def condorcet_winner(P: Floats) -> int | None:
    """The arm that beats every other one (p > 1/2), if there is one.

    >>> condorcet_winner(np.array([[0.5, 0.4], [0.6, 0.5]]))
    1
    """
    unbeaten = np.flatnonzero(_wins(P) == len(P) - 1)
    return int(unbeaten[0]) if unbeaten.size else None


def copeland_scores(P: Floats) -> Floats:
    """zeta_i: the share of the other arms that i beats. A tie is no win."""
    return _wins(P) / max(len(P) - 1, 1)


def copeland_winners(P: Floats) -> tuple[int, ...]:
    """The arms that beat the largest number of others: at least one, often several."""
    wins = _wins(P)
    return tuple(np.flatnonzero(wins == wins.max()).tolist())


def borda_scores(P: Floats) -> Floats:
    """The row sums, the arm's 1/2 against itself included, as the paper counts them."""
    return np.asarray(P.sum(axis=1))


def von_neumann(P: Floats) -> Floats:
    """A mixed strategy that no arm beats more than half the time: one-hot exactly when some arm is never beaten.

    Where several strategies qualify (duplicates, ties) it is one of them.
    """
    return maximin(P - 0.5)


def three_cycles(P: Floats) -> int:
    """How many triples of arms beat each other in a circle, each triple counted once.

    >>> three_cycles(np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]]))
    1
    """
    beats = (P > 0.5).astype(np.float64)  # float64: products by BLAS, and exact below 2**53
    return round(float(((beats @ beats) * beats.T).sum())) // 3


def duplicates(P: Floats, tolerance: float) -> tuple[tuple[int, ...], ...]:
    """Groups of arms that nothing tells apart: chains of pairs whose rows agree within the tolerance.

    Rows i and j meet in columns i and j too, so that p_ij is within the tolerance of 1/2.
    """
    K = len(P)
    group = np.arange(K)  # each arm's group is named by its lowest arm
    for arm in range(K):
        alike = np.abs(P - P[arm]).max(axis=1) <= tolerance
        joined = np.unique(group[alike])
        group[np.isin(group, joined)] = joined[0]
    names, sizes = np.unique(group, return_counts=True)
    return tuple(tuple(np.flatnonzero(group == name).tolist()) for name in names[sizes > 1])


def _wins(P: Floats) -> npt.NDArray[np.intp]:
    return np.asarray((P > 0.5).sum(axis=1))
