"""MultiUCB: Li et al. (2020), the experiment with multileaving, every bound computed anew at each step."""

import math

import numpy as np

from .base import Floats, upper_bounds


class MultiUCB:
    """Multileave what no upper confidence bound says is beaten; all if nothing is left."""

    def __init__(self, n_arms: int, *, alpha: float = 0.51) -> None:
        self.alpha = alpha
        self.wins: Floats = np.zeros((n_arms, n_arms))
        self.t = 0

    def candidates(self) -> list[int]:
        u = upper_bounds(self.wins, self.alpha * math.log(self.t + 1))
        np.fill_diagonal(u, 0.5)
        chosen = np.flatnonzero((u >= 0.5).all(axis=1))
        return (chosen if len(chosen) else np.arange(len(u))).tolist()

    def update(self, arms: list[int], preferences: Floats) -> None:
        self.t += 1
        for x, i in enumerate(arms):
            for y, j in enumerate(arms):
                if x != y:
                    self.wins[i, j] += min(1.0, max(0.0, preferences[x, y]))
