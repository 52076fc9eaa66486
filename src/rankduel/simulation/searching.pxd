from libc.stdint cimport int64_t, uint8_t

from numpy.random cimport bitgen_t

from rankduel.clicks.base cimport ClickModel
from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.rankings.ranked cimport ranked_t, ties_t


cdef class Searching:
    cdef readonly int n_rankers
    cdef readonly int64_t n_queries
    cdef readonly int k
    cdef Interleaving interleaving
    cdef Interleaving own  # used if a ranker meets itself
    cdef ClickModel user
    cdef Impression shown
    cdef ties_t ties
    cdef bint wide
    cdef object _kept
    cdef const int64_t *offsets
    cdef const uint8_t *grades
    cdef const char *order
    cdef const char *start

    cdef void rank(self, int64_t query, int ranker, ranked_t *ranked) noexcept nogil
    cdef double duel(self, bitgen_t *rng, int64_t query, int first, int second, bint whole) except? -2 nogil
    cdef double visit(
        self, Interleaving method, Impression shown, bitgen_t *rng, ranked_t *ranked, const uint8_t *grades, bint whole
    ) except? -2 nogil
