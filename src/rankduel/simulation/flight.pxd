from libc.stdint cimport int64_t

from rankduel.bandits.base cimport duel_t

cdef struct in_flight_t:
    int64_t due  # the page after which the outcome is told
    duel_t duel
    int outcome  # an `outcome_t`, or LOST


cdef enum:
    LOST = -1  # the outcome never arrives, and the duel is forgotten


cdef class DuelsInFlight:
    cdef int64_t n, capacity
    cdef in_flight_t *heap

    cdef int push(self, const in_flight_t *one) except -1 nogil
    cdef in_flight_t pop(self) noexcept nogil
    cdef int grow(self) except -1 nogil
