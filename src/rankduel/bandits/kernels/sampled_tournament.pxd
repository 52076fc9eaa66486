# A tournament of samples, as DTS plays it: which candidate wins most of its pairs, where each theta_ij is drawn once.

cimport cython
from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.coin_words cimport coins_t, tally_t
from rankduel.bandits.kernels.pair_posterior cimport versus_t


@cython.final
cdef class SampledTournament:
    cdef int n_arms
    cdef int n_words  # of bits, one of each arm
    cdef int n_weights  # of a tally
    cdef const versus_t *pairs  # pairs[j, i]: what is known of i against j; owned by the bandit
    cdef coins_t *coins  # coins[i, w]: whether theta_ij > 1/2, for the 64 opponents j of word w. Made from the pairs,
    cdef uint64_t *later  # as are their later places,
    cdef uint64_t *present  # and the arms that are not out
    cdef uint64_t *unmet  # scratch: bit q of unmet[v, w] if q, of word w, has not met the arms of word v
    cdef tally_t *beaten  # scratch: how many rows have beaten each arm, word by word
    cdef int *n_rows  # scratch: that have met the arms of each word

    cdef void update(self, int i, int j) noexcept nogil
    cdef void remove(self, int arm) noexcept nogil
    cdef int play(
        self, bitgen_t *rng, const int *candidates, int n_candidates, int n_alive, int known, const uint64_t *upsets
    ) noexcept nogil
    cdef uint64_t beats(
        self, bitgen_t *rng, int i, int w, uint64_t wanted, int known, const uint64_t *upsets
    ) noexcept nogil
