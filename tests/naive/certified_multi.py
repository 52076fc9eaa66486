"""CertifiedMulti, one line of its definition at a time: bets against each arm, and who shares the next page."""

import math

import numpy as np

from .base import Floats, argmax

STAKES = np.array([0.03, 0.1, 0.3, 0.9])


class CertifiedMulti:
    """Wealth E_i is a mean over stakes of products over pages; an arm leaves at 1 / delta."""

    def __init__(
        self, n_arms: int, *, delta: float = 0.05, arms_per_duel: int = 4, rng: np.random.Generator | None = None
    ) -> None:
        self.m, self.delta, self.rng = arms_per_duel, delta, rng or np.random.default_rng()
        self.wealth: Floats = np.ones((n_arms, len(STAKES)))
        self.wins: Floats = np.zeros(n_arms)
        self.losses: Floats = np.zeros(n_arms)
        self.alive = list(range(n_arms))

    def choose(self) -> tuple[int, ...]:
        """Champion, the arm with most evidence against it (if m > 2), the best of a Thompson draw."""
        if len(self.alive) <= self.m:
            return tuple(self.alive)
        mean, evidence = self.means(), self.evidence()
        others = list(self.alive)
        chosen = [others.pop(argmax(mean[others], self.rng))]
        if self.m > 2:
            chosen.append(others.pop(argmax(evidence[others], self.rng)))
        theta = self.rng.beta(self.wins[others] + 1, self.losses[others] + 1)
        chosen += [others[k] for k in np.argsort(-theta)[: self.m - len(chosen)]]
        return tuple(chosen)

    def means(self) -> Floats:
        """Of the posteriors."""
        mean: Floats = (self.wins + 1) / (self.wins + self.losses + 2)
        return mean

    def evidence(self) -> Floats:
        """The logarithm of E_i."""
        evidence: Floats = np.log(self.wealth.mean(axis=1))
        return evidence

    def learn(self, arms: tuple[int, ...], preferences: Floats) -> None:
        """One factor for each arm and stake, from weights that were known before."""
        mean = self.means()
        for x, i in enumerate(arms):
            ahead = np.maximum(mean[list(arms)] - mean[i], 0)
            if ahead.sum() > 0:
                self.multiply(i, ahead / ahead.sum(), preferences[x])
        for x, i in enumerate(arms):
            self.wins[i] += np.maximum(preferences[x], 0).sum()
            self.losses[i] += np.maximum(-preferences[x], 0).sum()
        for i in arms:
            if i in self.alive and self.evidence()[i] >= math.log(1 / self.delta) and len(self.alive) > 1:
                self.alive.remove(i)

    def multiply(self, i: int, weights: Floats, preferences: Floats) -> None:
        """E_i *= 1 - stake * sum_j pi_j y_ij."""
        self.wealth[i] *= 1 - STAKES * (weights @ preferences)


class OneFactorPerPair(CertifiedMulti):
    """Wrong: several factors from one page, which depend on each other."""

    def multiply(self, i: int, weights: Floats, preferences: Floats) -> None:
        for weight, preference in zip(weights, preferences, strict=True):
            if weight > 0:
                self.wealth[i] *= 1 - STAKES * preference


class BetsAfterwards(CertifiedMulti):
    """Wrong: the weights are chosen when the page is known."""

    def multiply(self, i: int, weights: Floats, preferences: Floats) -> None:
        self.wealth[i] *= 1 - STAKES * preferences[weights > 0].min()
