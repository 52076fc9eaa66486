"""RUCB: Zoghi, Whiteson, Munos, de Rijke (ICML 2014), Algorithm 1."""

import math

import numpy as np

from .base import Pairwise, pick, upper_bounds


class RUCB(Pairwise):
    """Relative Upper Confidence Bound."""

    def __init__(self, n_arms: int, *, alpha: float = 0.51, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.alpha = alpha
        self.B: list[int] = []  # the hypothesised best arm, if any; `choose` moves it

    def choose(self) -> tuple[int, int]:
        """A champion that may still be unbeaten, and the arm most likely to beat it."""
        u = upper_bounds(self.wins, self.alpha * math.log(self.t + 1))
        np.fill_diagonal(u, 0.5)
        C = [int(c) for c in np.flatnonzero((u >= 0.5).all(axis=1))]
        self.B = [b for b in self.B if b in C]
        if len(C) == 1:
            self.B = list(C)
        c = self.choose_champion(C)
        against_c = np.flatnonzero(u[:, c] == u[:, c].max())
        others = [int(d) for d in against_c if d != c]
        return c, pick(others, self.rng) if others else c  # ties not to c

    def choose_champion(self, C: list[int]) -> int:
        """Any arm if C is empty; else B's arm with chance 1/2 and the other candidates evenly for the rest."""
        if not C:
            return pick(range(self.n_arms), self.rng)
        if len(C) == 1:
            return C[0]
        if self.B and self.rng.random() < 0.5:
            return self.B[0]
        return pick([c for c in C if c not in self.B], self.rng)
