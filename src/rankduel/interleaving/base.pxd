from libc.stdint cimport uint8_t

from numpy.random cimport bitgen_t

from rankduel.rankings.ranked cimport ranked_t, ties_t


cdef class Impression:  # one list under way, and the memory to build it; each thread has its own
    cdef readonly int k  # places on the page
    cdef readonly int n  # documents placed so far
    cdef int *documents  # [k]
    cdef uint8_t *clicked  # [k]: 0 after `begin`, set by whoever watches the user


cdef class Interleaving:  # a method and its parameters; no state, so threads may share it
    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil
    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil
    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil
