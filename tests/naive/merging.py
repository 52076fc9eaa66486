"""The shell that MergeRUCB and MergeDTS share: batches, elimination, merging, stages (Algorithm 1 of MergeDTS)."""

import math
from abc import abstractmethod

import numpy as np

from .base import Floats, Pairwise, upper_bounds

Batches = list[list[int]]


class Merging(Pairwise):
    """Algorithm 1, with Phases I and II left to `choose_in`."""

    def __init__(self, n_arms: int, *, alpha: float, batch_size: int, c: float, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.alpha = alpha
        self.batch_size = batch_size
        self.c = c
        self.stage = 1  # s
        # Line 4: disjoint batches of M shuffled arms; the last may be smaller.
        arms = [int(arm) for arm in rng.permutation(n_arms)]
        self.batches: Batches = [arms[k : k + batch_size] for k in range(0, n_arms, batch_size)]
        self.batches = merge_singles(self.batches)

    @property
    def alive(self) -> list[int]:
        """Arms still in a batch, ascending."""
        return sorted(arm for batch in self.batches for arm in batch)

    def choose(self) -> tuple[int, int]:
        """Two arms of the batch whose turn it is."""
        batch = self.batches[(self.t + 1) % len(self.batches)]  # Line 6: m = t mod b_s
        if len(batch) == 1:  # Lines 7-8: one arm left
            return batch[0], batch[0]
        return self.choose_in(batch)

    @abstractmethod
    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        """Phases I and II: two arms of a batch of at least two."""

    def upper(self, batch: list[int], t: int) -> Floats:
        """Line 9: u_ij at step t, for the arms of one batch."""
        return upper_bounds(self.wins[np.ix_(batch, batch)], self.alpha * math.log(t + self.c))

    def learn(self, first: int, second: int, first_won: bool) -> None:
        """Phase III, then Lines 10-12 for the batch just played, then Phase IV."""
        super().learn(first, second, first_won)
        if len(self.alive) == 1:
            return
        m = next((m for m, batch in enumerate(self.batches) if first in batch and second in batch), None)
        if m is not None:
            self.batches[m] = self.survivors(self.batches[m])  # Line 10
            self.batches = merge_singles(self.batches)  # Lines 11-12
        if len(self.alive) <= self.n_arms / 2**self.stage:  # Lines 16-19
            self.batches = repartition(self.batches, self.batch_size)
            self.stage += 1

    def survivors(self, batch: list[int]) -> list[int]:
        """The batch without every a_i that has u_ij < 1/2 for some a_j of it (by play, only the last loser can)."""
        u = self.upper(batch, self.t)
        np.fill_diagonal(u, 0.5)
        return [arm for i, arm in enumerate(batch) if not (u[i] < 0.5).any()]


def merge_singles(batches: Batches) -> Batches:
    """Merge a single-arm batch with the next one (mod b_s), which takes the next one's place, while there is one."""
    batches = [list(batch) for batch in batches]
    while len(batches) > 1 and any(len(batch) == 1 for batch in batches):
        m = next(m for m, batch in enumerate(batches) if len(batch) == 1)
        after = (m + 1) % len(batches)
        batches[after] = batches[after] + batches[m]
        del batches[m]
    return batches


def repartition(batches: Batches, batch_size: int) -> Batches:
    """Pair the larger batches with the smaller ones, aiming at sizes in [0.5 M, 1.5 M]."""
    while True:
        before = len(batches)
        batches = pair_up(batches, 1.5 * batch_size)
        joined = len(batches) < before
        if not (joined and any(len(batch) < 0.5 * batch_size for batch in batches)):
            return batches


def pair_up(batches: Batches, limit: float) -> Batches:
    """One pass: the smallest joins the largest if both fit, else the largest stays alone. Result: largest first."""
    queue = sorted(batches, key=len)  # stable: of equal sizes, the earlier batch counts as the smaller
    paired = []
    while len(queue) > 1:
        largest = queue.pop()
        if len(queue[0]) + len(largest) <= limit:
            largest = largest + queue.pop(0)
        paired.append(largest)
    return paired + queue
