# Thompson sampling over single arms that skips draws that the leader wins for sure.

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.thompson cimport Thompson


cdef class SkippingThompson(Thompson):
    cdef double *skip_state  # "calm" in snapshots: [time until the next event, largest valid a + b of the leader]
    cdef int64_t *leader  # -1 if there is none

    cdef int draw(self, bitgen_t *rng) noexcept nogil
    cdef void learn_self(self, int arm) noexcept nogil
    cdef void update_rate(self, int arm) noexcept nogil
    cdef void fit(self) noexcept nogil
    cdef void try_leader(self) noexcept nogil
    cdef double chance(self, int arm) noexcept nogil
    cdef bint build_skip_tree(self, double most) noexcept nogil
    cdef double chance_below(self) noexcept nogil
    cdef int decide(self, bitgen_t *rng) noexcept nogil
    cdef double value_below(self, bitgen_t *rng) noexcept nogil
