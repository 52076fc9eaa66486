cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from rankduel.bandits.base cimport Bandit, duel_t, outcome_t
from rankduel.bandits.kernels.certificate cimport Certificate

cdef struct batch_t:
    int size
    int *arms
    char *pairs  # size x size records of doubles, row by row: the record of arms[i] against arms[j]
    uint8_t *bytes  # cache of a bandit, in its own layout. May be NULL


cdef class Merging(Bandit):
    cdef Certificate certificate  # None for the rule of the paper
    cdef double alpha, c, log_c, max_size
    cdef int batch_size, stage, n_batches
    cdef size_t record_size
    cdef batch_t **_batches
    cdef batch_t **batch_of  # batch_of[arm], NULL if the arm is eliminated
    cdef int *index_in_batch  # index_in_batch[arm]: index in its batch
    cdef int64_t *won
    cdef int64_t *fought

    # The rules that differ between the merging bandits
    cdef int choose_in(self, const batch_t *batch, int *first, int *second) except -1 nogil
    cdef void init_record(self, void *record) noexcept nogil
    cdef void count(self, batch_t *batch, int winner, int loser, double *wins, double *losses) noexcept nogil
    cdef double wins_of(self, const batch_t *batch, int i, int j) noexcept nogil
    cdef bint all_even(self) noexcept nogil
    cdef int ahead(self, const batch_t *batch, int i, int j) noexcept nogil
    cdef int layout_cache(self, batch_t *batch) except -1 nogil
    cdef void layout_odds(self, batch_t *batch) noexcept nogil
    cdef size_t n_bytes(self, int size) noexcept nogil

    cdef void *record(self, const batch_t *batch, int i, int j) noexcept nogil
    cdef batch_t *new_batch(self, int size) except NULL nogil
    cdef int place_arms(self, batch_t *batch) except -1 nogil
    cdef int deal(self) except -1
    cdef int set_batches(self, cnp.ndarray arms, cnp.ndarray sizes, cnp.ndarray pairs, cnp.ndarray bytes) except -1
    cdef int eliminate(self, int arm, int by) except -1 nogil
    cdef int join(self, int absorbed, int into) except -1 nogil
    cdef int repartition(self) except -1 nogil
    cdef bint pair_up(self) except -1 nogil
