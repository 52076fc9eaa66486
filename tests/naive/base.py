"""What the literal twins share: the contract, the papers' x/0 := 1, fair ties, and a plain loop that plays a bandit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Naive(ABC):
    """A slow bandit, straight from its pseudo-code: the oracle of the fast kernel of the same name.

    One duel is `choose`, the world's coin, `learn` of that same pair: twins know no late outcomes.
    State is plain attributes, so a test may write one by hand and sample `choose` from deep copies.
    The twin of a paper counts t from 1: the duel being chosen is number `t + 1`, the one just learnt number `t`.
    """

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        self.n_arms = n_arms
        self.rng = rng
        self.t = 0  # duels so far

    @property
    def alive(self) -> list[int]:
        """Arms not eliminated, ascending."""
        return list(range(self.n_arms))

    @abstractmethod
    def choose(self) -> tuple[int, int]:
        """Two arms for duel number t + 1."""

    @abstractmethod
    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Take in the result of the duel last chosen."""


class Pairwise(Naive):
    """A twin whose evidence is W: wins[i, j] = how often i beat j."""

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.wins: Ints = np.zeros((n_arms, n_arms), dtype=np.int64)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Count the win; a self-duel teaches nothing, but t advances all the same."""
        self.t += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[winner, loser] += 1


def ratio(x: Ints | Floats | float, y: Ints | Floats) -> Floats:
    """Quotient x / y, element-wise, with x/0 := 1."""
    quotient: Floats = np.ones(y.shape)
    np.divide(x, y, out=quotient, where=y != 0)
    return quotient


def upper_bounds(W: Ints | Floats, bonus: float) -> Floats:
    """u_ij = w_ij/n_ij + sqrt(bonus/n_ij): 2 for a pair that never met. The diagonal is the caller's business."""
    N = W + W.T
    return ratio(W, N) + np.sqrt(ratio(bonus, N))


def lower_bounds(W: Ints, bonus: float) -> Floats:
    """l_ij = w_ij/n_ij - sqrt(bonus/n_ij): 0 for a pair that never met. The diagonal is the caller's business."""
    N = W + W.T
    return ratio(W, N) - np.sqrt(ratio(bonus, N))


def sample_thetas(W: Ints, rng: np.random.Generator) -> Floats:
    """theta_ij ~ Beta(w_ij + 1, w_ji + 1) for i < j, theta_ji = 1 - theta_ij, theta_ii = 1/2."""
    theta = np.full(W.shape, 0.5)
    i, j = np.triu_indices(len(W), k=1)
    theta[i, j] = rng.beta(W[i, j] + 1, W[j, i] + 1)
    theta[j, i] = 1 - theta[i, j]
    return theta


def pick(candidates: Sequence[int] | Ints, rng: np.random.Generator) -> int:
    """One of the candidates, uniformly."""
    return int(candidates[int(rng.integers(len(candidates)))])


def argmax(values: Floats | Ints, rng: np.random.Generator) -> int:
    """Index of the largest value; ties uniformly at random."""
    return pick(np.flatnonzero(values == values.max()), rng)


def argmin(values: Floats | Ints, rng: np.random.Generator) -> int:
    """Index of the smallest value; ties uniformly at random."""
    return pick(np.flatnonzero(values == values.min()), rng)


def play(  # noqa: PLR0917 (the world, the length and the coin: always these, in this order)
    bandit: Naive,
    P: Floats,
    gaps: Floats,
    horizon: int,
    rng: np.random.Generator,
    checkpoints: Sequence[int] | Ints,
) -> Floats:
    """Play a bandit against a matrix and return its cumulative regret after each of the checkpoints (ascending).

    P[i, j] is the chance that i beats j, gaps[i] = P[winner, i] - 1/2, regret of a duel (gaps[i] + gaps[j]) / 2.
    """
    at = {int(c) for c in checkpoints}
    curve = []
    regret = 0.0
    for t in range(1, horizon + 1):
        first, second = bandit.choose()
        bandit.learn(first, second, bool(rng.random() < P[first, second]))
        regret += float(gaps[first] + gaps[second]) / 2
        if t in at:
            curve.append(regret)
    return np.array(curve)
