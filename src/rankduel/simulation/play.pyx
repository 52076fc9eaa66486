"""The compiled loop: choose, play, learn, regret."""

import numpy as np

cimport numpy as cnp
from libc.math cimport fmax, fmin
from libc.stdint cimport int64_t

from rankduel.bandits.base cimport Bandit, duel_t, outcome_t
from rankduel.simulation.worlds cimport World

cnp.import_array()

cdef enum combine_t:
    MEAN
    MIN
    MAX


cdef class Play:
    """A bandit in a world, and the regret so far; None as regret if nobody knows it. `advance` releases the GIL."""

    cdef readonly Bandit bandit
    cdef readonly World world
    cdef readonly int64_t duels
    cdef readonly object settled_at  # the duel that left one arm; None before
    cdef double sum, carry  # compensated: 1e8 small terms lose nothing
    cdef object _gaps
    cdef const double *gaps
    cdef combine_t combine

    def __init__(self, Bandit bandit not None, World world not None, regret):
        self.bandit, self.world = bandit, world
        self._gaps = np.full(bandit.n_arms, np.nan) if regret is None else np.ascontiguousarray(regret.gaps, np.float64)
        self.gaps = <const double *>cnp.PyArray_DATA(self._gaps)
        self.combine = MEAN if regret is None else {"mean": MEAN, "min": MIN, "max": MAX}[regret.combine]
        bandit._check_made()
        self.settled_at = 0 if self.settled else None

    @property
    def regret(self):
        return self.sum + self.carry

    @property
    def settled(self):
        """One arm is left, or those left are tied: nothing will change any more."""
        return self.bandit.n_alive == 1 or self.bandit.tied

    @property
    def over(self):
        """Nothing is left to compute: one arm is left, and the world has nothing more to show."""
        return self.settled and not self.world.measured

    def advance(self, int64_t until):
        """Play until that many duels are done, or the play is over."""
        cdef int winner
        if not self.settled:
            with nogil:
                self.run(until)
            if self.settled:
                self.settled_at = self.duels
        if self.world.measured and self.settled:
            winner = self.bandit.champion
            with nogil:
                self.show(winner, until)

    cdef int run(self, int64_t until) except -1 nogil:
        cdef duel_t duel
        duel.first_propensity = duel.second_propensity = 0
        while self.duels < until and self.bandit.n_alive > 1 and not self.bandit.tied:
            duel.number = self.bandit.asked + 1
            self.bandit.choose(&duel)
            self.bandit.asked += 1
            self.bandit.told += 1
            self.bandit.learn(&duel, <outcome_t>self.world.play(&duel))
            self.duels += 1
            self.suffer(duel.first, duel.second)
        return 0

    cdef int show(self, int winner, int64_t until) except -1 nogil:
        """The winner goes on being shown, on its own."""
        cdef duel_t duel
        duel.first = duel.second = winner
        while self.duels < until:
            duel.number = self.duels + 1
            self.world.play(&duel)
            self.duels += 1
            self.suffer(winner, winner)
        return 0

    cdef inline void suffer(self, int first, int second) noexcept nogil:
        """Add the regret of one duel (Neumaier's sum; the terms are never larger than what is there, but for the first)."""
        cdef double x = self.gaps[first], y = self.gaps[second], term, total
        term = (x + y) / 2 if self.combine == MEAN else fmin(x, y) if self.combine == MIN else fmax(x, y)
        total = self.sum + term
        self.carry += (self.sum - total) + term if self.sum >= term else (term - total) + self.sum
        self.sum = total
