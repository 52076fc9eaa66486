from libc.stdint cimport uint8_t, uint64_t

from numpy.random cimport bitgen_t

from rankduel.interleaving.sides cimport side_t
from rankduel.rankings.ranked cimport ranked_t, ties_t


cdef class Impression:  # the list being built, and its memory. Use one per thread
    cdef readonly int k  # places on the page
    cdef readonly int n  # documents placed so far
    cdef int *documents  # [k]
    cdef uint8_t *clicked  # [k]: 0 after `begin`. The caller sets it for clicked documents
    cdef double *for_first  # [k]: weight of a click at this position for the first ranker,
    cdef double *for_second  # [k]: and for the second
    cdef ties_t ties
    cdef side_t sides[2]  # of the first and of the second ranker
    cdef side_t redrawn[2]  # the same for redrawn ties. All places are free, except while clicks are credited
    cdef uint64_t *seen  # a bit for each document: it is on the page
    cdef double *scratch  # [k + 1]
    cdef int cursor[2]  # next place of each ranker, for methods that walk down the lists
    cdef int turn  # the ranker that picks next, for methods with turns
    cdef int *planned  # [k]: the next documents, if they are already known
    cdef int n_planned  # number of planned documents
    cdef int reach  # number of documents that fit into the memory
    cdef const double *weights  # weights of places, for methods that have them
    cdef const double *totals  # totals[n]: sum of the first n weights
    cdef double *table  # weights and totals for queries that exceed the table of the method
    cdef double table_tau
    cdef int table_n

    cdef int reserve(self, int n_documents) except -1 nogil
    cdef int open(self, const ranked_t *first, const ranked_t *second, ties_t ties) except -1 nogil
    cdef void show(self, int document) noexcept nogil


cdef class Interleaving:  # a method and its parameters. It has no state, so threads may share it
    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil
    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil
    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil
    cdef object depth(self, int k)
    cdef tuple record(self, Impression shown)
    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2
