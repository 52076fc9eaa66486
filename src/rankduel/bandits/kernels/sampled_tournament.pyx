"""The sampled tournament of Double Thompson Sampling, drawn in words of 64 opponents (`coin_words.pxd`)."""

cimport cython
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from rankduel.bandits.kernels.coin_words cimport LATER, bit, ones, set_coin, tally_add, tally_of, toss
from rankduel.randomness.draws cimport best_t, consider


@cython.final
cdef class SampledTournament:
    """Starts with probability 1/2 for all pairs. Not stored in snapshots: it is derived from pairs and eliminations."""

    def __cinit__(self, int n_arms):
        cdef int n_words = (n_arms + 63) // 64, i, w
        self.n_arms, self.n_words = n_arms, n_words
        self.n_weights = n_arms.bit_length()
        self.coins = <coins_t *>calloc(<size_t>n_arms * n_words, sizeof(coins_t))
        self.later = <uint64_t *>calloc(<size_t>n_arms * n_words * LATER, sizeof(uint64_t))
        self.present = <uint64_t *>calloc(n_words, sizeof(uint64_t))
        self.unmet = <uint64_t *>malloc(n_words * n_words * sizeof(uint64_t))
        self.beaten = <tally_t *>malloc(n_words * self.n_weights * sizeof(tally_t))
        self.n_rows = <int *>malloc(n_words * sizeof(int))
        if self.coins == NULL or self.later == NULL or self.present == NULL:
            raise MemoryError
        if self.unmet == NULL or self.beaten == NULL or self.n_rows == NULL:
            raise MemoryError
        for i in range(n_arms):
            self.present[i // 64] |= bit(i)
        for i in range(n_arms):  # the same as `update` for probability 1/2, except for an arm and itself
            for w in range(n_words):
                self.coins[<size_t>i * n_words + w].first = self.present[w]
            self.coins[<size_t>i * n_words + i // 64].first &= ~bit(i)

    def __dealloc__(self):
        free(self.coins)
        free(self.later)
        free(self.present)
        free(self.unmet)
        free(self.beaten)
        free(self.n_rows)

    cdef void update(self, int i, int j) noexcept nogil:
        """Update the coin of i against j after their record has changed."""
        cdef size_t iw = <size_t>i * self.n_words + j // 64
        set_coin(
            &self.coins[iw], self.later + iw * LATER, bit(j), self.pairs[<size_t>j * self.n_arms + i].above_half
        )

    cdef void remove(self, int arm) noexcept nogil:
        """Remove an eliminated arm from the tournament."""
        self.present[arm // 64] &= ~bit(arm)

    cdef int play(
        self, bitgen_t *rng, const int *candidates, int n_candidates, int n_alive, int known, const uint64_t *upsets
    ) noexcept nogil:
        """The candidate that wins the most pairs, ties broken at random.

        A row of the tournament is drawn in words of 64 opponents, and only while its arm can still win. Two candidates
        share one draw: a pair that an earlier row has decided is not drawn again. The row of the arm `known` (-1 for
        none) is given: it beats all arms except the `upsets`.
        """
        cdef int n_words = self.n_words, r, i, own, k, w, v, score, best_score = 0
        cdef uint64_t unmet, won
        cdef best_t best
        best.value, best.index, best.ties = -1, 0, 0
        for w in range(n_words):
            for v in range(n_words):
                self.unmet[v * n_words + w] = self.present[w]
        memset(self.beaten, 0, n_words * self.n_weights * sizeof(tally_t))
        memset(self.n_rows, 0, n_words * sizeof(int))
        for r in range(n_candidates):
            i = candidates[r]
            own = w = i // 64
            # An upper bound of its wins. The word with its own bit subtracts one for the arm itself.
            score = n_alive - tally_of(self.beaten + own * self.n_weights, self.n_rows[own], i)
            k = 0
            while k < n_words and score >= best_score:
                if (unmet := self.unmet[own * n_words + w]) != 0:  # otherwise all of them have met it
                    won = self.beats(rng, i, w, unmet, known, upsets)
                    score -= ones(unmet & ~won)
                    tally_add(self.beaten + w * self.n_weights, self.n_rows[w], won)
                    self.n_rows[w] += 1
                    self.unmet[w * n_words + own] &= ~bit(i)
                k += 1
                w = w + 1 if w + 1 < n_words else 0
            if k == n_words:
                consider(rng, &best, score, i)
                best_score = max(best_score, score)
        return best.index

    cdef inline uint64_t beats(
        self, bitgen_t *rng, int i, int w, uint64_t wanted, int known, const uint64_t *upsets
    ) noexcept nogil:
        """The arms j of a word with sampled theta_ij > 1/2. Only the wanted bits are valid."""
        cdef size_t iw = <size_t>i * self.n_words + w
        cdef const double *chances = &self.pairs[<size_t>(64 * w) * self.n_arms + i].above_half
        cdef size_t stride = self.n_arms * (sizeof(versus_t) // sizeof(double))
        if i == known:
            return ~upsets[w] & ~(bit(i) if w == i // 64 else 0)
        return toss(rng, &self.coins[iw], self.later + iw * LATER, wanted, chances, stride)
