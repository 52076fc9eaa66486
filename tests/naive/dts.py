"""DTS: Wu and Liu (NIPS 2016), Algorithm 1."""

import math

import numpy as np

from .base import Pairwise, argmax, lower_bounds, sample_thetas, upper_bounds


class DTS(Pairwise):
    """Double Thompson Sampling."""

    def __init__(self, n_arms: int, *, alpha: float = 0.8**7, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.alpha = alpha

    def choose(self) -> tuple[int, int]:
        """Sample among the likely Copeland winners, then among the arms that may still beat that one."""
        first = self.choose_first(self.candidates())
        return first, self.choose_second(first)

    @property
    def bonus(self) -> float:
        """The alpha log t of the duel being chosen."""
        return self.alpha * math.log(self.t + 1)

    def candidates(self) -> list[int]:
        """Arms with the largest count of j != i with u_ij > 1/2: the optimistic Copeland winners."""
        u = upper_bounds(self.wins, self.bonus)
        np.fill_diagonal(u, 0.5)
        score = (u > 0.5).sum(axis=1)
        return [int(i) for i in np.flatnonzero(score == score.max())]

    def choose_first(self, candidates: list[int]) -> int:
        """The candidate with the largest #{j != i: theta_ij > 1/2}."""
        theta = sample_thetas(self.wins, self.rng)
        score = (theta > 0.5).sum(axis=1)
        return candidates[argmax(score[candidates], self.rng)]

    def choose_second(self, first: int) -> int:
        """The largest phi_i, arm i's drawn chance against `first` (a column), over i with l_i,first <= 1/2."""
        phi = self.rng.beta(self.wins[:, first] + 1, self.wins[first, :] + 1)
        phi[first] = 0.5
        low = lower_bounds(self.wins, self.bonus)[:, first]
        low[first] = 0.5
        phi[low > 0.5] = -np.inf
        return argmax(phi, self.rng)
