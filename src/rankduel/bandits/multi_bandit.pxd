from libc.stdint cimport int64_t

from rankduel.bandits.learner cimport Learner

cdef struct multi_duel_t:
    int64_t number
    int n
    int *arms  # room for all arms


cdef class MultiBandit(Learner):
    cdef int choose(self, multi_duel_t *duel) except -1 nogil
    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil
