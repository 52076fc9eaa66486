from libc.stdint cimport int64_t

from rankduel.bandits.base cimport duel_t

cdef struct airborne_t:
    int64_t due  # after this page
    duel_t duel
    int outcome  # an `outcome_t`, or LOST


cdef enum:
    LOST = -1  # nobody will ever hear who won


cdef class Flight:
    cdef int64_t n, capacity
    cdef airborne_t *heap

    cdef int start(self, const airborne_t *one) except -1 nogil
    cdef airborne_t land(self) noexcept nogil
    cdef int grow(self) except -1 nogil
