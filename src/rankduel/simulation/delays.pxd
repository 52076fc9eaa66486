from libc.stdint cimport int64_t

from numpy.random cimport bitgen_t


cdef class Delay:
    cdef readonly object in_flight, timeout
    cdef readonly double unanswered
    cdef int64_t max_in_flight, timeout_duels  # the same as C numbers, INT64_MAX for None

    cdef int64_t draw(self, bitgen_t *rng) noexcept nogil
    cdef int64_t answer(self, bitgen_t *rng, bint *comes) noexcept nogil
