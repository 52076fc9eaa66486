"""The compiled simulation loop: choose, play, learn, add regret. Outcomes come at once or with a delay."""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport fmax, fmin
from libc.stdint cimport int64_t

from numpy.random cimport bitgen_t

from rankduel.bandits.base cimport Bandit, duel_t, outcome_t
from rankduel.randomness import bit_generator
from rankduel.simulation.delays cimport Delay
from rankduel.simulation.flight cimport LOST, DuelsInFlight, in_flight_t
from rankduel.simulation.worlds cimport World

cnp.import_array()

cdef enum combine_t:
    MEAN
    MIN
    MAX


cdef int64_t CHAMPION_REFRESH_PAGES = 1000  # pages between updates of the champion, which run Python code


cdef class Play:
    """A bandit in a world, and the regret so far. Pass None as `regret` if it is not known.

    `advance` releases the GIL.
    """

    cdef readonly Bandit bandit
    cdef readonly World world
    cdef readonly Delay delay  # None if outcomes are told at once
    cdef readonly int64_t duels
    cdef readonly int64_t waited  # pages without a duel, because too many were in flight
    cdef readonly object settled_at  # the duel after which the result was final, else None
    cdef double sum, carry  # compensated sum, so that 1e8 small terms lose no precision
    cdef object _gaps
    cdef const double *gaps
    cdef combine_t combine
    cdef DuelsInFlight flight
    cdef bitgen_t *rng  # random stream of the delays
    cdef object _bit_generator
    cdef int champion
    cdef int64_t champion_until

    def __init__(self, Bandit bandit not None, World world not None, regret, Delay delay=None):
        self.bandit, self.world, self.delay = bandit, world, delay
        self.flight = DuelsInFlight()
        if delay is not None:
            self._bit_generator = bit_generator(world.seed, "delay")
            self.rng = <bitgen_t *>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")
        self._gaps = np.full(bandit.n_arms, np.nan) if regret is None else np.ascontiguousarray(regret.gaps, np.float64)
        self.gaps = <const double *>cnp.PyArray_DATA(self._gaps)
        self.combine = MEAN if regret is None else {"mean": MEAN, "min": MIN, "max": MAX}[regret.combine]
        bandit._check_made()
        self.settled_at = 0 if self.settled else None

    @property
    def regret(self):
        return self.sum + self.carry

    @property
    def in_flight(self):
        """The number of duels that are neither told nor forgotten."""
        return self.flight.n

    @property
    def settled(self):
        """Whether one arm is left, or all arms left are tied, so that the result is final."""
        return self.ended()

    @property
    def over(self):
        """Whether there is nothing left to compute: the result is final and the world measures no pages."""
        return self.settled and not self.world.measured

    def advance(self, int64_t until):
        """Play until `until` duels are done, or the play is over."""
        cdef int winner
        cdef bint late = self.delay is not None
        if not self.settled:
            with nogil:
                if late:
                    self.run_late(until)
                else:
                    self.run(until)
            if self.settled:
                self.settled_at = self.duels
        if self.world.measured and self.settled:
            winner = self.bandit.champion if self.bandit.tied else self.bandit.winner
            with nogil:
                self.show(winner, until)

    cdef inline bint ended(self) noexcept nogil:
        return self.bandit.n_alive == 1 or self.bandit.tied

    cdef int run(self, int64_t until) except -1 nogil:
        cdef duel_t duel
        duel.first_propensity = duel.second_propensity = 0
        while self.duels < until and not self.ended():
            duel.number = self.bandit.asked + 1
            self.bandit.choose(&duel)
            self.bandit.asked += 1
            self.bandit.told += 1
            self.bandit.learn(&duel, <outcome_t>self.world.play(&duel))
            self.duels += 1
            self.add_regret(duel.first, duel.second)
        return 0

    cdef int run_late(self, int64_t until) except -1 nogil:
        """Show one page per step, with a duel unless too many are in flight. Then tell the outcomes that are due."""
        cdef duel_t duel
        duel.first_propensity = duel.second_propensity = 0
        while self.duels < until and not self.ended():
            self.duels += 1
            if self.flight.n < self.delay.max_in_flight:
                duel.number = self.bandit.asked + 1
                self.bandit.choose(&duel)
                self.bandit.asked += 1
                self.start_duel(&duel)
            else:
                self.wait(&duel)
            self.add_regret(duel.first, duel.second)
            self.deliver_outcomes()
        return 0

    cdef int start_duel(self, const duel_t *duel) except -1 nogil:
        """Draw the outcome of a duel and its delay, which does not depend on the outcome."""
        cdef in_flight_t one
        cdef bint comes
        one.duel, one.outcome = duel[0], self.world.play(duel)
        one.due = self.duels + self.delay.answer(self.rng, &comes)
        if not comes:
            one.outcome = LOST
        return self.flight.push(&one)

    cdef int deliver_outcomes(self) except -1 nogil:
        """Tell the outcomes that are due. A duel without an outcome is forgotten."""
        cdef in_flight_t one
        while self.flight.n and self.flight.heap[0].due <= self.duels and not self.ended():
            one = self.flight.pop()
            if one.outcome != LOST:
                self.bandit.told += 1
                self.bandit.learn(&one.duel, <outcome_t>one.outcome)
        return 0

    cdef int wait(self, duel_t *duel) except -1 nogil:
        """Show a page without a duel: the champion alone."""
        if self.duels > self.champion_until:
            with gil:
                self.champion = self.bandit.champion
            self.champion_until = self.duels + max(CHAMPION_REFRESH_PAGES, self.bandit.n_arms)
        duel.first = duel.second = self.champion
        self.waited += 1
        if self.world.measured:
            self.world.play(duel)
        return 0

    cdef int show(self, int winner, int64_t until) except -1 nogil:
        """Show the winner alone until the end."""
        cdef duel_t duel
        duel.first = duel.second = winner
        while self.duels < until:
            duel.number = self.duels + 1
            self.world.play(&duel)
            self.duels += 1
            self.add_regret(winner, winner)
        return 0

    cdef inline void add_regret(self, int first, int second) noexcept nogil:
        """Add the regret of one duel, by Neumaier's compensated sum."""
        cdef double x = self.gaps[first], y = self.gaps[second], term, total
        term = (x + y) / 2 if self.combine == MEAN else fmin(x, y) if self.combine == MIN else fmax(x, y)
        total = self.sum + term
        self.carry += (self.sum - total) + term if self.sum >= term else (term - total) + self.sum
        self.sum = total
