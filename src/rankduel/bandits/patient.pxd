# Thompson sampling over single arms that jumps over the draws of which the winner is known.

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

from rankduel.bandits.thompson cimport Thompson


cdef class Patient(Thompson):
    cdef double *rates  # of the events that matter, per draw; -1: to be computed
    cdef double *calm  # [the level, the sum of rates, the time until the next event, what the leader's a + b may grow to]
    cdef int64_t *leader  # -1 while nothing is sure
    cdef int *events

    cdef int draw(self, bitgen_t *rng) noexcept nogil
    cdef void learn(self, int arm, bint success) noexcept nogil
    cdef void learn_self(self, int arm) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef bint refresh(self, double most) noexcept nogil
    cdef double chance_below(self) noexcept nogil
    cdef int decide(self, bitgen_t *rng) noexcept nogil
    cdef double value_below(self, bitgen_t *rng) noexcept nogil
    cdef int whoever(self, bitgen_t *rng, double value) noexcept nogil
