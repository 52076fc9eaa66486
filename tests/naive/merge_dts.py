"""MergeDTS: Algorithms 1-3 of Li, Markov, de Rijke, Zoghi (TOIS 2020)."""

import numpy as np

from .base import argmax, argmin, sample_thetas
from .merging import Merging


class MergeDTS(Merging):
    """Merge Double Thompson Sampling."""

    def __init__(
        self,
        n_arms: int,
        *,
        alpha: float = 0.8**6,
        batch_size: int = 16,
        c: float = 4e6,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(n_arms, alpha=alpha, batch_size=batch_size, c=c, rng=rng)

    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        """Phase I, then Phase II."""
        first = self.sample_tournament(batch)
        return first, self.relative_tournament(batch, first)

    def sample_tournament(self, batch: list[int]) -> int:
        """Algorithm 2: the arm that beats most others of the batch in one draw of all theta_ij."""
        theta = sample_thetas(self.wins[np.ix_(batch, batch)], self.rng)
        beaten = (theta > 0.5).sum(axis=1)  # kappa_i (|B_m| - 1); theta_ii = 1/2 counts for nobody
        return batch[argmax(beaten, self.rng)]

    def relative_tournament(self, batch: list[int], c: int) -> int:
        """Algorithm 3: the arm with the smallest drawn chance against c."""
        phi = self.rng.beta(self.wins[batch, c] + 1, self.wins[c, batch] + 1)
        phi[batch.index(c)] = np.inf  # the paper's 1, which a draw may round to: no self-duel
        return batch[argmin(phi, self.rng)]
