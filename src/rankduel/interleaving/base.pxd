from libc.stdint cimport uint8_t, uint64_t

from numpy.random cimport bitgen_t

from rankduel.interleaving.sides cimport side_t
from rankduel.rankings.ranked cimport ranked_t, ties_t


cdef class Impression:  # one list under way, and the memory to build it; each thread has its own
    cdef readonly int k  # places on the page
    cdef readonly int n  # documents placed so far
    cdef int *documents  # [k]
    cdef uint8_t *clicked  # [k]: 0 after `begin`, set by whoever watches the user
    cdef double *for_first  # [k]: how much a click here speaks for the first ranker,
    cdef double *for_second  # [k]: and for the second
    cdef ties_t ties
    cdef side_t sides[2]  # of the first and of the second ranker
    cdef side_t redrawn[2]  # the same once more: nothing is taken there, but while clicks are credited
    cdef uint64_t *seen  # a bit for each document: it is on the page
    cdef double *scratch  # [k + 1]
    cdef int cursor[2]  # how far down each order the method has come, where it walks down
    cdef int turn  # whose turn it is, where rankers take turns
    cdef int *planned  # [k]: what to show next, where that is known already,
    cdef int n_planned  # up to this position
    cdef int reach  # documents for which there is memory
    cdef const double *weights  # of places, where a method weighs them,
    cdef const double *totals  # and of the first n
    cdef double *table  # weights and totals for queries beyond the method's own table
    cdef double table_tau
    cdef int table_n

    cdef int reserve(self, int n_documents) except -1 nogil
    cdef int open(self, const ranked_t *first, const ranked_t *second, ties_t ties) except -1 nogil
    cdef void show(self, int document) noexcept nogil


cdef class Interleaving:  # a method and its parameters; no state, so threads may share it
    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil
    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil
    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil
    cdef object depth(self, int k)
    cdef tuple record(self, Impression shown)
    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2
