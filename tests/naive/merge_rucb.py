"""MergeRUCB: Zoghi, Whiteson, de Rijke (WSDM 2015)."""

import numpy as np

from .base import argmax, pick
from .merging import Merging


class MergeRUCB(Merging):
    """Merge Relative Upper Confidence Bound."""

    def __init__(
        self,
        n_arms: int,
        *,
        alpha: float = 0.8**6,
        batch_size: int = 8,
        c: float = 4e5,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(n_arms, alpha=alpha, batch_size=batch_size, c=c, rng=rng)

    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        """Any arm c of the batch, and the arm d != c most likely to beat it: argmax_j u_jc."""
        c = pick(range(len(batch)), self.rng)
        u = self.upper(batch, self.t + 1)
        u[c, c] = -np.inf
        d = argmax(u[:, c], self.rng)
        return batch[c], batch[d]
