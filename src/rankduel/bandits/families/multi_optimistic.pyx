"""`MultiOptimistic`: the unbeaten arms by upper confidence bounds of pairs, for sets of arms (MultiUCB, MDB)."""

import numpy as np

from libc.math cimport log
from libc.stdint cimport int32_t

from rankduel.bandits.multi_bandit cimport won
from rankduel.bandits.parameters import number
from rankduel.bandits.snapshot_checks import MAX_DUELS, Values


cdef class MultiOptimistic(MultiBandit):
    """Wins of all pairs, and for each arm the smallest width of the bounds at which it is unbeaten.

    The bound u_ij = w_ij / n_ij + sqrt(width / n_ij) with n_ij = w_ij + w_ji is below 1/2 exactly if j leads and the
    deficit (w_ji - w_ij)^2 / (4 n_ij) is above the width. For each arm that is beaten at the width alpha log t, the
    largest deficit over j is stored, with its j (the witness). The other arms need none, because t only grows.
    """

    def __init__(self, n_arms, *, alpha, seed=None, **parameters):
        super().__init__(n_arms, seed=seed, alpha=number("alpha", alpha), **parameters)
        self.alpha = alpha
        self._wins = <double *>self.array("wins", (self.n_arms, self.n_arms), np.float64)
        self.behind = <double *>self.array("behind", self.n_arms, np.float64)
        self.witness = <int *><int32_t *>self.array("witness", self.n_arms, np.int32)

    def _snapshot_rules(self, stored):
        yield from MultiBandit._snapshot_rules(self, stored)
        yield "wins", self._arrays["wins"], Values(0, MAX_DUELS)
        yield "behind", self._arrays["behind"], Values(0, MAX_DUELS)
        yield "witness", self._arrays["witness"], Values(0, self.n_arms - 1)

    cdef int unbeaten(self, double width, int *arms) noexcept nogil:
        """Fill in the arms with u_ij >= 1/2 for all j, in ascending order. Returns their number."""
        cdef int i, n = 0
        for i in range(self.n_arms):
            if self.behind[i] <= width:
                arms[n] = i
                n += 1
        return n

    cdef int everybody(self, int *arms) noexcept nogil:
        cdef int i
        for i in range(self.n_arms):
            arms[i] = i
        return self.n_arms

    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil:
        cdef int x, y, i, j, n = duel.n
        cdef double width = self.alpha * log(self.told), preference, lead, behind
        cdef double *w
        cdef double *l
        for x in range(n):
            i = duel.arms[x]
            for y in range(x + 1, n):
                j = duel.arms[y]
                preference = preferences[<size_t>x * n + y]
                w, l = self._wins + <size_t>i * self.n_arms + j, self._wins + <size_t>j * self.n_arms + i
                w[0] += won(preference)
                l[0] += won(-preference)
                lead = w[0] - l[0]
                behind = self.behind[j] if lead > 0 else self.behind[i]
                behind = behind if behind > width else width
                if lead * lead > 4 * (w[0] + l[0]) * behind:  # a larger deficit than against all others
                    if lead > 0:
                        self.behind[j], self.witness[j] = self.deficit(j, i), i
                    else:
                        self.behind[i], self.witness[i] = self.deficit(i, j), j
        for x in range(n):
            i = duel.arms[x]
            if self.behind[i] > width and self.deficit(i, self.witness[i]) < self.behind[i]:  # it has caught up
                self.find_witness(i)
        return 0

    cdef double deficit(self, int i, int j) noexcept nogil:
        """The width at which u_ij reaches 1/2, or 0 if i is not behind j."""
        cdef double w = self._wins[<size_t>i * self.n_arms + j], l = self._wins[<size_t>j * self.n_arms + i]
        return (l - w) * (l - w) / (4 * (l + w)) if l > w else 0

    cdef void find_witness(self, int i) noexcept nogil:
        """Find the arm with the largest deficit of i, and store both."""
        cdef int j
        cdef double deficit
        self.behind[i] = 0
        for j in range(self.n_arms):
            deficit = self.deficit(i, j)
            if deficit > self.behind[i]:
                self.behind[i], self.witness[i] = deficit, j

    @property
    def champion(self):
        """The arm that leads against the most others so far. The win rate breaks ties."""
        wins = self._arrays["wins"]
        rate = (wins.sum(1) + 1) / (wins.sum(1) + wins.sum(0) + 2)
        return int(np.lexsort((rate, (wins > wins.T).sum(1)))[self.n_arms - 1])

    @property
    def candidates(self):
        """The arms that are unbeaten at the width alpha log t, in ascending order. An excluded arm may return later."""
        arms = np.empty(self.n_arms, np.int32)
        cdef int32_t[::1] indices = arms
        return arms[:self.unbeaten(self.alpha * log(self.told + 1), <int *>&indices[0])].astype(np.int64)

    @property
    def wins(self):
        """The sum of the preferences of arm i over arm j, at [i, j]. Read-only."""
        view = self._arrays["wins"].view()
        view.flags.writeable = False
        return view
