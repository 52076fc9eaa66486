from libc.stdint cimport int64_t

from rankduel.bandits.stateful cimport Learner

cdef enum outcome_t:
    TIE = 0
    FIRST = 1
    SECOND = 2

cdef struct duel_t:
    int64_t number
    int first, second
    double first_propensity, second_propensity  # 0 if the bandit does not use them


cdef class Bandit(Learner):
    cdef int choose(self, duel_t *duel) except -1 nogil
    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil
    cdef int _learn(self, duel, outcome) except -1
