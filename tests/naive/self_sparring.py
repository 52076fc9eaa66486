"""Self-Sparring: Sui, Zhuang, Burdick, Yue (UAI 2017), independent Beta-Bernoulli arms, two at a time."""

import numpy as np

from .base import Ints, Naive, argmax


class SelfSparring(Naive):
    """Thompson sampling against itself."""

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.successes: Ints = np.zeros(n_arms, dtype=np.int64)  # s_i
        self.failures: Ints = np.zeros(n_arms, dtype=np.int64)  # f_i

    def choose(self) -> tuple[int, int]:
        """The best of one draw of all arms, twice and independently."""
        return self.best_of_a_draw(), self.best_of_a_draw()

    def best_of_a_draw(self) -> int:
        """The arm with the largest theta_i ~ Beta(s_i + 1, f_i + 1)."""
        return argmax(self.rng.beta(self.successes + 1, self.failures + 1), self.rng)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """The winner's s and the loser's f grow; they may be one and the same arm's."""
        self.t += 1
        winner, loser = (first, second) if first_won else (second, first)
        self.successes[winner] += 1
        self.failures[loser] += 1
