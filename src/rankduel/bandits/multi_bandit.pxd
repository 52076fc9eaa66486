from libc.stdint cimport int64_t

from rankduel.bandits.stateful cimport Learner

cdef struct multi_duel_t:
    int64_t number
    int n
    int *arms  # capacity n_arms


cdef class MultiBandit(Learner):
    cdef int choose(self, multi_duel_t *duel) except -1 nogil
    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil


cdef inline double won(double preference) noexcept nogil:
    """The share of a win that a preference counts for, from 0 to 1."""
    return 0 if preference <= 0 else preference if preference < 1 else 1
