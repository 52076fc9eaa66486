"""REX3: Gajane, Urvoy, Clérot (ICML 2015)."""

import math

import numpy as np

from .base import Floats, Naive


class REX3(Naive):
    """Relative exponential weights; kept as logarithms, for they overflow."""

    def __init__(self, n_arms: int, *, gamma: float | None = None, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.fixed_gamma = gamma
        self.log_weights: Floats = np.zeros(n_arms)
        self.gamma, self.probs = self.exploration(), np.full(n_arms, 1 / n_arms)  # those of the last choose

    def exploration(self) -> float:
        """gamma_t of the duel being chosen."""
        if self.fixed_gamma is not None:
            return self.fixed_gamma
        return min(0.5, math.sqrt(self.n_arms * math.log(self.n_arms) / max(self.t + 1, 1e4)))

    def choose(self) -> tuple[int, int]:
        """Two independent draws from prob_i = (1 - gamma) weight_i / sum + gamma/K."""
        self.gamma = self.exploration()
        weights = np.exp(self.log_weights - self.log_weights.max())
        self.probs = (1 - self.gamma) * weights / weights.sum() + self.gamma / self.n_arms
        a, b = self.rng.choice(self.n_arms, size=2, p=self.probs)
        return int(a), int(b)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Winner and loser: weight *= exp(+-gamma / (K 2 prob)), with gamma and prob of the ask."""
        self.t += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.log_weights[winner] += self.gamma / (self.n_arms * 2 * self.probs[winner])
            self.log_weights[loser] -= self.gamma / (self.n_arms * 2 * self.probs[loser])
