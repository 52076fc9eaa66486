from libc.stdint cimport int64_t, uint8_t

from rankduel.bandits.base cimport duel_t, outcome_t
from rankduel.bandits.families.eliminating cimport Eliminating


cdef class Optimistic(Eliminating):
    cdef double alpha
    cdef double *wins  # wins[i, j]: i over j
    cdef uint8_t *behind  # behind[i, j]: u_ij < 1/2
    cdef double *turn  # turn[i, j]: the log t at which u_ij reaches 1/2 again
    cdef double *row_turn  # row_turn[i]: lower bound of turn[i, j] over the pairs with behind[i, j]
    cdef double *next_turn  # lower bound of all row_turn[i]
    cdef int64_t *n_behind  # n_behind[i]: number of j with behind[i, j]

    cdef void count(self, int winner, int loser) noexcept nogil
    cdef void update_bound(self, int i, int j, double log_t) noexcept nogil
    cdef void catch_up(self, double log_t) noexcept nogil
