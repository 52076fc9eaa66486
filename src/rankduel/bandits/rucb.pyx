"""RUCB: Relative Upper Confidence Bound (Zoghi et al. 2014)."""

import numpy as np

from libc.math cimport log, sqrt
from libc.stdint cimport int64_t

from rankduel.bandits.base cimport duel_t
from rankduel.bandits.families.optimistic cimport Optimistic
from rankduel.bandits.snapshot_checks import Values
from rankduel.randomness.draws cimport below, best_t, consider, uniform


cdef class RUCB(Optimistic):
    """Find the Condorcet winner of a few dozen arms by upper confidence bounds on all pairs.

    Idea
        Use it when you want a well-known baseline for few arms. Arm i is a candidate if no upper confidence bound u_ij
        is below 1/2. The first arm i is a random candidate. Half of the time it is the favourite B instead: the arm
        that was last the only candidate, as long as it is still a candidate. The first arm meets the arm j with the
        highest bound u_ji on the probability to beat it.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The paper needs > 0.5, and uses 0.51.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K) time per duel, O(K^2) memory.

    Guarantee
        Regret O(K^2 + K log T) for alpha > 0.5, if a Condorcet winner exists.

    References
        Zoghi, Whiteson, Munos, de Rijke: Relative upper confidence bound for the K-armed dueling bandit problem.
        ICML 2014, Algorithm 1.

    Deviations
        None.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.RUCB(5, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.bradley_terry(5, seed=1), horizon=100_000)
        >>> bandit.champion == rd.problems.bradley_terry(5, seed=1).condorcet_winner
        True
    """

    cdef int64_t *favourite  # the arm in B, -1 if B is empty

    def __init__(self, n_arms, *, alpha=0.51, seed=None):
        super().__init__(n_arms, alpha=alpha, seed=seed)
        self.favourite = <int64_t *>self.array("favourite", 1)
        self.favourite[0] = -1

    def _snapshot_rules(self, stored):
        yield from Optimistic._snapshot_rules(self, stored)
        yield "favourite", self._arrays["favourite"], Values(-1, self.n_arms - 1)

    cdef int choose(self, duel_t *duel) except -1 nogil:
        duel.first = self.first()
        duel.second = self.second(duel.first)
        return 0

    cdef int first(self) noexcept nogil:
        cdef int c, n_candidates = 0, last = -1, favourite, skip
        for c in range(self.n_arms):  # C = {c : u_cj >= 1/2 for all j}
            if self.n_behind[c] == 0:
                n_candidates += 1
                last = c
        if self.favourite[0] >= 0 and self.n_behind[self.favourite[0]] > 0:  # B = B intersected with C
            self.favourite[0] = -1
        if n_candidates == 0:
            return below(self.rng, self.n_arms)
        if n_candidates == 1:
            self.favourite[0] = last
            return last
        favourite = <int>self.favourite[0]
        if favourite >= 0:
            if uniform(self.rng) < 0.5:
                return favourite
            n_candidates -= 1
        skip = below(self.rng, n_candidates)  # a uniform draw from C \ B
        for c in range(self.n_arms):
            if self.n_behind[c] == 0 and c != favourite:
                if skip == 0:
                    return c
                skip -= 1
        return last

    cdef int second(self, int c) noexcept nogil:
        """d = argmax u_jc, where u_cc = 1/2; ties are broken at random, never in favour of c."""
        cdef double width = self.alpha * log(self.told + 1), w, n, bound
        cdef int j
        cdef best_t best
        best.value, best.index, best.ties = 0.5, c, 0
        for j in range(self.n_arms):
            if j != c:
                w = self.wins[<size_t>j * self.n_arms + c]
                n = w + self.wins[<size_t>c * self.n_arms + j]
                bound = w / n + sqrt(width / n) if n > 0 else 2  # x/0 := 1, in both terms
                consider(self.rng, &best, bound, j)
        return best.index
