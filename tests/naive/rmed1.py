"""RMED1: Komiyama, Honda, Kashima, Nakagawa (COLT 2015), Algorithms 1 and 2."""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .base import Floats, Pairwise, argmin, ratio


class RMED1(Pairwise):
    """Relative Minimum Empirical Divergence.

    The arms stand in one random `order`; the lists keep it: in the first pass, in the first L_C, and among the arms
    that join L_N after the same duel.
    """

    def __init__(self, n_arms: int, *, f: float | None = None, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.f = 0.3 * n_arms**1.01 if f is None else f
        self.order = [int(arm) for arm in rng.permutation(n_arms)]
        self.first_pass = list(combinations(self.order, 2))  # pairs that have not met yet
        self.L_C = list(self.order)
        self.L_R = list(self.order)
        self.L_N: list[int] = []

    def choose(self) -> tuple[int, int]:
        """The next pair of the first pass; then the next arm l of L_C and its opponent m."""
        if self.first_pass:
            return self.first_pass[0]
        return self.L_C[0], self.opponent(self.L_C[0])

    def opponent(self, arm: int) -> int:
        """Algorithm 2: m = i* if i* is in O_l or O_l is empty, else argmin_{j != l} p_lj."""
        best = argmin(self.divergences(), self.rng)  # i*
        losses_to = self.beaten_by()[arm]  # O_l
        if losses_to[best] or not losses_to.any():
            return best
        p = self.means()[arm]
        p[arm] = np.inf
        return argmin(p, self.rng)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Count; in the main loop take l off L_C and L_R, and let the arms that may be best join L_N."""
        super().learn(first, second, first_won)
        if self.first_pass:
            del self.first_pass[0]
            return
        arm = self.L_C.pop(0)
        self.L_R.remove(arm)
        divergence = self.divergences()
        bar = divergence.min() + math.log(self.t) + self.f
        for j in self.order:
            if j not in self.L_R and j not in self.L_N and divergence[j] <= bar:
                self.L_N.append(j)
        if not self.L_C:
            self.L_C, self.L_R, self.L_N = list(self.L_N), list(self.L_N), []

    def means(self) -> Floats:
        """p_ij = w_ij / n_ij."""
        return ratio(self.wins, self.wins + self.wins.T)

    def beaten_by(self) -> NDArray[np.bool_]:
        """Row i marks O_i = {j != i: p_ij <= 1/2}."""
        beaten = self.means() <= 0.5
        np.fill_diagonal(beaten, False)
        return beaten

    def divergences(self) -> Floats:
        """I_i = sum over j in O_i of n_ij d(p_ij, 1/2).

        Rounded, so that equal sums of other terms or in another order tie, as they do on paper.
        """
        terms = (self.wins + self.wins.T) * bernoulli_kl(self.means(), 0.5)
        sums: Floats = np.where(self.beaten_by(), terms, 0).sum(axis=1)
        return np.round(sums, 9)


def bernoulli_kl(p: Floats, q: float) -> Floats:
    """d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0."""

    def x_log(x: Floats, y: float) -> Floats:
        return x * np.log(np.where(x > 0, x, 1) / y)

    return x_log(p, q) + x_log(1 - p, 1 - q)
