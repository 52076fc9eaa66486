"""Uniform play: the floor every bandit must beat."""

import numpy as np

from .base import Naive


class Uniform(Naive):
    """A uniformly random pair of distinct arms; learns nothing."""

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)

    def choose(self) -> tuple[int, int]:
        """Two distinct arms, in random order (the only arm twice if K = 1)."""
        if self.n_arms == 1:
            return 0, 0
        first, second = self.rng.choice(self.n_arms, size=2, replace=False)
        return int(first), int(second)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Count the duel."""
        self.t += 1
