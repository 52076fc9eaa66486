"""Sparring: Ailon, Karnin, Joachims (ICML 2014). Two bandits, one on each side; the winner's gets 1, the other's 0.

Index 0 of every count is the first side, 1 the second. A self-duel is a reward like any other.
"""

import math
from abc import abstractmethod

import numpy as np

from .base import Floats, Ints, Naive, argmax, pick


class Sparring(Naive):
    """Two copies of one bandit that never talk."""

    def choose(self) -> tuple[int, int]:
        """Each side names its arm."""
        return self.choose_side(0), self.choose_side(1)

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Each side gets its reward."""
        self.t += 1
        self.reward(0, first, int(first_won))
        self.reward(1, second, int(not first_won))

    @abstractmethod
    def choose_side(self, side: int) -> int:
        """The arm this side would play."""

    @abstractmethod
    def reward(self, side: int, arm: int, reward: int) -> None:
        """Tell this side what its arm earned."""


class SparringUCB1(Sparring):
    """UCB1 (Auer, Cesa-Bianchi, Fischer 2002) on each side."""

    def __init__(self, n_arms: int, *, alpha: float = 2.0, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.alpha = alpha
        self.wins: Ints = np.zeros((2, n_arms), dtype=np.int64)
        self.plays: Ints = np.zeros((2, n_arms), dtype=np.int64)

    def choose_side(self, side: int) -> int:
        """An unplayed arm, else argmax of mean + sqrt(alpha ln t / n)."""
        wins, n = self.wins[side], self.plays[side]
        if (n == 0).any():
            return pick(np.flatnonzero(n == 0), self.rng)
        return argmax(wins / n + np.sqrt(self.alpha * math.log(self.t + 1) / n), self.rng)

    def reward(self, side: int, arm: int, reward: int) -> None:
        """Count."""
        self.wins[side, arm] += reward
        self.plays[side, arm] += 1


class SparringThompson(Sparring):
    """Thompson sampling with a Beta(1, 1) prior on each side."""

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.successes: Ints = np.zeros((2, n_arms), dtype=np.int64)
        self.failures: Ints = np.zeros((2, n_arms), dtype=np.int64)

    def choose_side(self, side: int) -> int:
        """The arm with the largest theta_i ~ Beta(successes + 1, failures + 1)."""
        return argmax(self.rng.beta(self.successes[side] + 1, self.failures[side] + 1), self.rng)

    def reward(self, side: int, arm: int, reward: int) -> None:
        """Count."""
        self.successes[side, arm] += reward
        self.failures[side, arm] += 1 - reward


class SparringEXP3(Sparring):
    """EXP3 (Auer, Cesa-Bianchi, Freund, Schapire 2002) on each side; weights as logarithms."""

    def __init__(self, n_arms: int, *, gamma: float | None = None, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.fixed_gamma = gamma
        self.log_weights: Floats = np.zeros((2, n_arms))
        self.gamma, self.probs = self.exploration(), np.full((2, n_arms), 1 / n_arms)  # those of the last choose

    def exploration(self) -> float:
        """gamma_t of the duel being chosen."""
        if self.fixed_gamma is not None:
            return self.fixed_gamma
        K = self.n_arms
        return min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1) * max(self.t + 1, 1e4))))

    def choose_side(self, side: int) -> int:
        """Draw from prob_i = (1 - gamma) w_i / sum + gamma/K."""
        self.gamma = self.exploration()
        weights = np.exp(self.log_weights[side] - self.log_weights[side].max())
        self.probs[side] = (1 - self.gamma) * weights / weights.sum() + self.gamma / self.n_arms
        return int(self.rng.choice(self.n_arms, p=self.probs[side]))

    def reward(self, side: int, arm: int, reward: int) -> None:
        """w_i *= exp(gamma (reward / prob_i) / K), with gamma and prob_i of the ask."""
        self.log_weights[side, arm] += self.gamma * (reward / self.probs[side, arm]) / self.n_arms


class SparringTsallisINF(Sparring):
    """Tsallis-INF (Zimmert, Seldin 2021) with importance-weighted losses on each side."""

    def __init__(self, n_arms: int, *, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.losses: Floats = np.zeros((2, n_arms))
        self.probs = np.full((2, n_arms), 1 / n_arms)  # those of the last choose

    def choose_side(self, side: int) -> int:
        """Draw from w_i = 4 / (eta_t (L_i - x))^2, with the x that makes them sum to 1."""
        self.probs[side] = self.weights(self.losses[side], 2 / math.sqrt(self.t + 1))
        return int(self.rng.choice(self.n_arms, p=self.probs[side]))

    def weights(self, L: Floats, eta: float) -> Floats:
        """Newton's method, from the x that makes the largest weight 1 and so the sum at least 1."""
        x = L.min() - 2 / eta
        for _ in range(100):
            w = 4 / (eta * (L - x)) ** 2
            excess = w.sum() - 1
            if excess < 1e-13:
                break
            x -= excess / (eta * (w**1.5).sum())
        normal: Floats = w / w.sum()
        return normal

    def reward(self, side: int, arm: int, reward: int) -> None:
        """L_i += loss / w_i, with w_i of the ask."""
        self.losses[side, arm] += (1 - reward) / self.probs[side, arm]
