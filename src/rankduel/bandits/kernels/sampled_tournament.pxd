# The sampled tournament of DTS: draw each theta_ij once, and find the candidate that wins the most pairs.

cimport cython
from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.coin_words cimport coins_t, tally_t
from rankduel.bandits.kernels.pair_posterior cimport versus_t


@cython.final
cdef class SampledTournament:
    cdef int n_arms
    cdef int n_words  # 64-bit words of a bit set of all arms
    cdef int n_weights  # binary digits of a tally
    cdef const versus_t *pairs  # pairs[j, i]: record of i against j, owned by the bandit
    cdef coins_t *coins  # coins[i, w]: coins for theta_ij > 1/2, for the 64 opponents j of word w. Derived from `pairs`
    cdef uint64_t *later  # the later digits of the same coins
    cdef uint64_t *present  # bit set of the arms that are not eliminated
    cdef uint64_t *unmet  # scratch: bit q of unmet[v, w] is set if arm q of word w has not met the arms of word v
    cdef tally_t *beaten  # scratch: for each arm, the number of rows that have beaten it
    cdef int *n_rows  # scratch: for each word, the number of rows that have met its arms

    cdef void update(self, int i, int j) noexcept nogil
    cdef void remove(self, int arm) noexcept nogil
    cdef int play(
        self, bitgen_t *rng, const int *candidates, int n_candidates, int n_alive, int known, const uint64_t *upsets
    ) noexcept nogil
    cdef uint64_t beats(
        self, bitgen_t *rng, int i, int w, uint64_t wanted, int known, const uint64_t *upsets
    ) noexcept nogil
