from libc.stdint cimport int64_t, uint8_t

from rankduel.simulation.searching cimport Searching
from rankduel.simulation.worlds cimport World


cdef class Users(World):
    cdef Searching searching
    cdef object _kept
    cdef const double *ideal
    cdef const double *discount
    cdef double[31] gain
    cdef double clicks, ndcg

    cdef int64_t arrive(self) noexcept nogil
    cdef void measure(self, int64_t query, const int *documents, const uint8_t *clicked, int n) noexcept nogil
