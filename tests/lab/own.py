"""A bandit of somebody's own, as a file."""

import sys

from rankduel.bandits import plugins

GREEDY = """
import rankduel as rd
from steps import STEP


class Greedy(rd.Bandit):
    def __init__(self, n_arms, *, epsilon=0.1, seed=None):
        super().__init__(n_arms, seed=seed, epsilon=epsilon)
        self.epsilon = epsilon
        self.wins = self.keep("wins", [0] * n_arms)

    def pick(self):
        explores = self.random.random() < self.epsilon
        first = self.random.integers(self.n_arms) if explores else self.wins.argmax()
        return int(first), int(self.random.integers(self.n_arms))

    def update(self, first, second, outcome):
        self.wins[first if outcome is rd.Outcome.FIRST else second] += STEP

    @property
    def champion(self):
        return int(self.wins.argmax())


class Silent(Greedy):
    def __init__(self, n_arms, *, volume=1, seed=None):
        super().__init__(n_arms, seed=seed)


class Odd(Greedy):
    def __init__(self, n_arms, *, rule=None, seed=None):
        rd.Bandit.__init__(self, n_arms, seed=seed, rule=max)


class Renamed(rd.MergeDTS):
    pass


def function():
    pass
"""
STEPS = "STEP = 1\n"


def forget() -> None:
    """As in a new process: nothing of it is imported, and its code unknown."""
    for name in ("greedy", "steps", "broken"):
        sys.modules.pop(name, None)
    plugins._digest.cache_clear()
