"""MergeDTS: Merge Double Thompson Sampling (Li et al. 2020).

This file chooses duels. `Merging` (families/merging.pyx) eliminates arms and merges batches.
"""

cimport cython
from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from rankduel.bandits.families.merging cimport Merging, batch_t
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values, curve_rules
from rankduel.bandits.kernels.pair_posterior cimport add16, draw16, kappa_of, kappa_ties, odds, rest, versus_count, versus_new, versus_t
from rankduel.randomness.beta cimport ASK, STALE, beta_argmax, betas_t, guess_t, next_lane
from rankduel.randomness.draws cimport below, eight_bytes, eight_bytes_if, uniform

cdef class MergeDTS(Merging):
    """Find the Condorcet winner of hundreds of arms with low regret, by Thompson sampling twice in small batches.

    Idea
        Use it when you have hundreds of arms and want the algorithm of the paper. Arms are dealt into batches of M, and
        the batches take turns. In a batch, the first arm is the one that wins most pairs of a sampled tournament. It
        meets the arm that a second sample finds least likely to beat it, so that weak arms are eliminated soon. An arm
        is eliminated when an upper confidence bound says that it loses to another arm of its batch. Each time the
        number of arms has halved, small batches are merged with large ones. In the end, one arm is left.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The paper's tuned value is 0.8^6. The theorem needs > 0.5.
        batch_size: M, at least 2. The tuned value is 16. The theorem needs at least 4.
        c: C, > 0, added to the time in the bounds. The tuned value is 4e6. `theoretical` computes the C(epsilon) of the
            theorem.
        elimination: None or `Hoeffding(alpha, c)` is the rule of the paper. Set it to `Certified(delta)` if you need a
            guarantee that does not depend on the other parameters.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(M^2) time per duel. The constant is small: one vector comparison decides sixteen pairs of the sampled
        tournament, and the second sample draws a normal variate for about half of the arms. O(K M) memory. With one arm
        left, a duel costs nothing.

    Guarantee
        With the parameters of `theoretical`, regret is below 8 alpha M K ln(T + C) / gap^2 with probability 1 - 1/T
        (Theorem 1). A Condorcet winner must exist, and at most a third of the arms may be uninformative. The tuned
        parameters have no guarantee.

    References
        Li, Markov, de Rijke, Zoghi: MergeDTS: a method for effective large-scale online ranker evaluation.
        ACM TOIS 38(4), 2020. Algorithms 1 to 3.

    Deviations
        Arms are shuffled before they are dealt. Elimination and merging happen when you tell the outcome, not when the
        batch is next visited. The paper does not say how batches are merged at the end of a stage. Here the smallest
        batch joins the largest while their sum is at most 3M/2. The samples have exactly the paper's distribution. The
        events theta_ij > 1/2 are drawn directly, and phi_j is drawn only if it can affect the choice.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.MergeDTS(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=10_000_000)
        >>> run.winner, bandit.batches
        (0, [[0]])
        >>> round(rd.MergeDTS.theoretical(136, horizon=100).parameters["c"])  # C(epsilon) at epsilon = 0.01
        4066005
    """

    cdef int16_t *scores  # scratch: wins of each index of the batch in the sampled tournament
    cdef guess_t *guesses
    cdef int capacity

    def __init__(self, n_arms, *, alpha=0.8**6, batch_size=16, c=4e6, elimination=None, seed=None):
        self.record_size = sizeof(versus_t)
        super().__init__(n_arms, alpha=alpha, batch_size=batch_size, c=c, elimination=elimination, seed=seed)

    def __dealloc__(self):
        free(self.scores)
        free(self.guesses)

    cdef int choose_in(self, const batch_t *batch, int *first, int *second) except -1 nogil:
        first[0] = self.sample_tournament(batch)
        second[0] = self.relative_tournament(batch, first[0])
        return 0

    cdef double wins_of(self, const batch_t *batch, int i, int j) noexcept nogil:
        return versus(batch, i, j).chance.a - 1

    @cython.final
    cdef int sample_tournament(self, const batch_t *batch) noexcept nogil:
        """Algorithm 2. Only the event theta_ij > 1/2 matters, so a random byte per pair is compared with its odds.

        Pairs are stored as in a round robin: row d holds the pairs (i, i + d mod n), so that 16 neighbours of a row are
        16 different pairs, which one vector comparison decides.
        """
        cdef int n = batch.size, stride = lanes(n), d, start, k, best, ties, chosen = 0
        cdef int16_t *won = self.scores  # as first of a pair
        cdef int16_t *beaten = self.scores + stride  # as second: beaten[j] + beaten[n + j] times
        cdef const uint8_t *row = odds_of(batch)
        cdef uint64_t open[2]
        cdef uint8_t win[16]
        memset(self.scores, 0, 4 * stride * sizeof(int16_t))
        for d in range(1, n // 2 + 1):
            for start in range(0, stride, 16):
                if draw16(row, eight_bytes(self.rng), eight_bytes_if(self.rng, n - start > 8), win, open):
                    while (k := next_lane(open)) >= 0:
                        if row_has(n, d, start + k):
                            win[k] = uniform(self.rng) < rest(versus(batch, start + k, around(start + k + d, n)).above_half)
                add16(won + start, win)
                add16(beaten + start + d, win)
                row += 16
        best = kappa_of(won, beaten, n)
        ties = kappa_ties(won, best, n, &chosen)
        if ties > 1:  # broken at random
            ties = below(self.rng, ties)
            for k in range(n - 1, -1, -1):
                chosen = k if won[k] == best and ties >= 0 else chosen
                ties -= won[k] == best
        return chosen

    @cython.final
    cdef int relative_tournament(self, const batch_t *batch, int c) noexcept nogil:
        """Algorithm 3: the arm least likely to beat a_c, argmin phi_j = argmax 1 - phi_j over j != c."""
        cdef betas_t row  # 1 - phi_j ~ Beta(w_cj + 1, w_jc + 1)
        row.first, row.stride = &versus(batch, c, 0).chance, sizeof(versus_t)
        row.n, row.bar, row.scratch = batch.size, 0, self.guesses
        row.tails = tails(batch) + c * lanes(batch.size)
        row.tops = tops(batch) + c * lanes(batch.size)
        return beta_argmax(self.rng, &row, c, NULL, -1)

    cdef void init_record(self, void *record) noexcept nogil:
        versus_new(<versus_t *>record)

    cdef void count(self, batch_t *batch, int winner, int loser, double *wins, double *losses) noexcept nogil:
        cdef versus_t *lost = versus(batch, loser, winner)
        versus_count(versus(batch, winner, loser), lost)
        wins[0], losses[0] = lost.chance.a - 1, lost.chance.b - 1
        set_odds(batch, winner, loser)
        tails(batch)[winner * lanes(batch.size) + loser] = ASK
        tails(batch)[loser * lanes(batch.size) + winner] = ASK

    cdef size_t n_bytes(self, int size) noexcept nogil:
        return (size // 2 + 2 * size) * <size_t>lanes(size)

    cdef int layout_cache(self, batch_t *batch) except -1 nogil:
        cdef int n = batch.size, stride = lanes(n), i, j
        cdef size_t size = self.n_bytes(n)
        batch.bytes = <uint8_t *>realloc(batch.bytes, size)
        if stride > self.capacity:
            self.scores = <int16_t *>realloc(self.scores, 4 * stride * sizeof(int16_t))
            self.guesses = <guess_t *>realloc(self.guesses, stride * sizeof(guess_t))
            self.capacity = stride
        if batch.bytes == NULL or self.scores == NULL or self.guesses == NULL:
            with gil:
                raise MemoryError
        memset(batch.bytes, 0, size)
        self.layout_odds(batch)
        for i in range(n):
            for j in range(n):
                if i != j:
                    versus(batch, i, j).chance.gap = STALE
                    tails(batch)[i * stride + j] = ASK
        return 0

    cdef void layout_odds(self, batch_t *batch) noexcept nogil:
        cdef int n = batch.size, i, j
        memset(odds_of(batch), 0, tails(batch) - odds_of(batch))
        for i in range(n):
            for j in range(i):
                set_odds(batch, i, j)

    def _batch_rules(self, records):
        """Rules for the records: both arms of a pair have counted the same duels, and the curves fit."""
        yield "pairs", records[:, :, 0], Values(1, MAX_DUELS, whole=True)
        yield "pairs", records[:, :, 1], Equal(records[:, :, 0].T)
        yield from curve_rules("pairs", records, bar=0)


cdef inline int lanes(int n) noexcept nogil:
    """n, rounded up to a multiple of 16. The padding has odds 0 and never wins."""
    return (n + 15) // 16 * 16


cdef inline uint8_t *odds_of(const batch_t *batch) noexcept nogil:
    """The odds that theta_ij > 1/2: row d - 1 for the pairs at distance d."""
    return batch.bytes


cdef inline uint8_t *tails(const batch_t *batch) noexcept nogil:
    """The `tails` of `betas_t` (`randomness/beta.pxd`): row c for the posteriors of arm c against all others."""
    return batch.bytes + batch.size // 2 * lanes(batch.size)


cdef inline uint8_t *tops(const batch_t *batch) noexcept nogil:
    return tails(batch) + batch.size * lanes(batch.size)


cdef inline versus_t *versus(const batch_t *batch, int i, int j) noexcept nogil:
    return <versus_t *>batch.pairs + <size_t>i * batch.size + j


cdef inline void set_odds(batch_t *batch, int i, int j) noexcept nogil:
    """Store the odds of a pair of indices, in either order."""
    cdef int n = batch.size, d = around(j - i + n, n)
    if not row_has(n, d, i):
        i, j, d = j, i, n - d
    odds_of(batch)[(d - 1) * lanes(n) + i] = odds(versus(batch, i, j).above_half)


cdef inline int around(int i, int n) noexcept nogil:
    """i mod n, for 0 <= i < 2 n."""
    return i - n if i >= n else i


cdef inline bint row_has(int n, int d, int i) noexcept nogil:
    """Whether the pair (i, i + d mod n) is drawn from row d. Each pair is in one row only."""
    return i < n and (2 * d < n or (2 * d == n and 2 * i < n))
