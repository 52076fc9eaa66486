"""MDB: Brost, Seldin, Cox, Lioma (CIKM 2016), every bound computed anew at each step."""

import math

import numpy as np

from .base import Floats, upper_bounds
from .multi_ucb import MultiUCB


class MDB(MultiUCB):
    """The only arm that passes the narrow bounds; else all that pass the wide ones; else all."""

    def __init__(self, n_arms: int, *, alpha: float = 0.51, beta: float = 1.5) -> None:
        super().__init__(n_arms, alpha=alpha)
        self.beta = beta

    def candidates(self) -> list[int]:
        E, F = self.unbeaten(self.alpha), self.unbeaten(self.beta * self.alpha)
        return E if len(E) == 1 else F or list(range(len(self.wins)))

    def unbeaten(self, alpha: float) -> list[int]:
        u: Floats = upper_bounds(self.wins, alpha * math.log(self.t + 1))
        np.fill_diagonal(u, 0.5)
        chosen: list[int] = np.flatnonzero((u >= 0.5).all(axis=1)).tolist()
        return chosen
