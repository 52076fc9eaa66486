"""Self-Sparring: Sui, Zhuang, Burdick, Yue (UAI 2017), independent Beta-Bernoulli arms, m at a time."""

import numpy as np

from .base import Floats, Ints, argmax


class MultiSelfSparring:
    """Thompson sampling against itself, m times for each page."""

    def __init__(self, n_arms: int, *, arms_per_duel: int = 4, rng: np.random.Generator) -> None:
        self.m, self.rng = arms_per_duel, rng
        self.successes: Ints = np.zeros(n_arms, dtype=np.int64)
        self.failures: Ints = np.zeros(n_arms, dtype=np.int64)
        self.gains: Floats = np.zeros(n_arms)
        self.pains: Floats = np.zeros(n_arms)

    def choose(self) -> tuple[int, ...]:
        """The best of one draw of all arms, m times and independently; those drawn again are there already."""
        return tuple(dict.fromkeys(self.best_of_a_draw() for _ in range(self.m)))

    def best_of_a_draw(self) -> int:
        """The arm with the largest theta_i ~ Beta(s_i + 1, f_i + 1)."""
        return argmax(self.rng.beta(self.successes + 1, self.failures + 1), self.rng)

    def learn(self, arms: tuple[int, ...], preferences: Floats) -> None:
        """Every preference is a part of a success of one and of a failure of another; whole ones count."""
        wins = np.clip(preferences, 0, 1)
        self.gains[list(arms)] += wins.sum(axis=1)
        self.pains[list(arms)] += wins.sum(axis=0)
        self.successes = np.floor(self.gains + 1e-9).astype(np.int64)
        self.failures = np.floor(self.pains + 1e-9).astype(np.int64)
