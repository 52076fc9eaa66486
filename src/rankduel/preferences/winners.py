"""Winners in the senses of the literature, cycles and duplicates. `P[i, j]` is the probability that i beats j."""

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
    """The Condorcet winner: the arm that beats all others (p > 1/2). None if there is none.

    >>> condorcet_winner(np.array([[0.5, 0.4], [0.6, 0.5]]))
    1
    """
    unbeaten = np.flatnonzero(_wins(P) == len(P) - 1)
    return int(unbeaten[0]) if unbeaten.size else None


def copeland_scores(P: Floats) -> Floats:
    """Copeland scores zeta_i: the share of the other arms that i beats. A tie is not a win."""
    return _wins(P) / max(len(P) - 1, 1)


def copeland_winners(P: Floats) -> tuple[int, ...]:
    """The Copeland winners: the arms that beat the most others. There may be several."""
    wins = _wins(P)
    return tuple(np.flatnonzero(wins == wins.max()).tolist())


def borda_scores(P: Floats) -> Floats:
    """Borda scores: the row sums, including 1/2 for the arm against itself, as in the paper."""
    return np.asarray(P.sum(axis=1))


def von_neumann(P: Floats) -> Floats:
    """The von Neumann winner: a random mix of arms that no arm beats. One arm alone if and only if it is unbeaten.

    If there are several (duplicates, ties), this is one of them.
    """
    return maximin(P - 0.5)


def three_cycles(P: Floats) -> int:
    """The number of 3-cycles: triples of arms that beat each other in a cycle. Each triple counts once.

    >>> three_cycles(np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]]))
    1
    """
    beats = (P > 0.5).astype(np.float64)  # float64: products by BLAS, and exact below 2**53
    return round(float(((beats @ beats) * beats.T).sum())) // 3


def duplicates(P: Floats, tolerance: float) -> tuple[tuple[int, ...], ...]:
    """Groups of indistinguishable arms: chains of pairs whose rows agree within the tolerance.

    The rows also agree in columns i and j, so p_ij is within the tolerance of 1/2.
    """
    K = len(P)
    group = np.arange(K)  # group of each arm, named after its lowest arm
    for arm in range(K):
        alike = np.abs(P - P[arm]).max(axis=1) <= tolerance
        joined = np.unique(group[alike])
        group[np.isin(group, joined)] = joined[0]
    names, sizes = np.unique(group, return_counts=True)
    return tuple(tuple(np.flatnonzero(group == name).tolist()) for name in names[sizes > 1])


def _wins(P: Floats) -> npt.NDArray[np.intp]:
    return np.asarray((P > 0.5).sum(axis=1))
