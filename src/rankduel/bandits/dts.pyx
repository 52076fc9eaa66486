"""DTS: Double Thompson Sampling (Wu & Liu 2016)."""

import numpy as np

cimport cython
from libc.math cimport fmax
from libc.stdint cimport int16_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from rankduel.bandits.base cimport FIRST, TIE, duel_t, outcome_t
from rankduel.bandits.optimistic cimport Optimistic
from rankduel.bandits.versus cimport add16, draw16, odds, rest, sum16, versus_count, versus_new, versus_t
from rankduel.randomness.arrivals cimport arrival_rate, arrival_wait, arrivals_now
from rankduel.randomness.beta cimport ASK, beta_argmax, beta_draw_above, betas_t, guess_t, next_lane
from rankduel.randomness.draws cimport best_t, consider, eight_bytes, uniform

cdef enum:
    TOTAL = 0
    WAIT = 1

cdef double RARE = 0.5  # events per duel: with more of them, plain draws are cheaper


cdef class DTS(Optimistic):
    """Find a Copeland winner of few arms by sampling preferences twice from their posterior.

    Idea
        Arms that could still win most duels, by their upper confidence bounds, are candidates; the first arm is the
        candidate that wins most of a sampled tournament. The second is the arm whose sampled chance against it is the
        largest, among those that are not surely better. When the first arm is sure to be the best it meets itself.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The MergeDTS paper's tuned value is 0.8^7; Wu & Liu use 0.51.
        elimination: None as published; `Certified(delta)` eliminates with a guarantee, and nobody meets itself then.
        seed: of the bandit's own random streams; None draws a fresh one.

    Cost
        O(K |candidates|) time per duel, where the constant is a sixteenth of an instruction pair, and O(K^2) memory.

    Guarantee
        Regret O(K log T + K^2 log log T) for alpha > 0.5, with a Condorcet winner or without.

    References
        Wu, Liu: Double Thompson sampling for dueling bandits. NeurIPS 2016, Algorithm 1.

    Deviations
        None in law. Whether theta_ij > 1/2 is drawn directly; the Beta draws of the second arm are only made where
        they can matter.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.DTS(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef versus_t *pairs  # pairs[j, i]: what is known of i against j, so that all opponents of j are neighbours
    cdef uint8_t *tails  # tails[j, i] and tops[j, i], of the same
    cdef uint8_t *tops
    cdef uint8_t *odds  # odds[i, j] that theta_ij > 1/2, in 256ths
    cdef double *rests  # and what the rounding left
    cdef int64_t *leader  # of the last tournament
    cdef uint8_t *fresh  # scratch of the tournament: fresh[b, q] if q has not settled its duels with block b
    cdef int16_t *beaten  # how many rows have beaten each arm
    cdef int *settled  # how many rows have settled their duels with each block
    cdef int *candidates
    cdef int64_t *favourite  # whose duels with itself are jumped over; -1 before there was any
    cdef double *rates  # of the events that each theta, then that each phi is above 1/2 against it; -1: to be computed
    cdef double *calm  # [the sum of rates, the time until the next event; -1: to be drawn]
    cdef int *events  # scratch of a duel that has some
    cdef uint8_t *upsets  # whose theta against the favourite is above 1/2
    cdef guess_t *guesses
    cdef int stride

    def __init__(self, n_arms, *, alpha=0.8**7, elimination=None, seed=None):
        super().__init__(n_arms, alpha=alpha, elimination=elimination, seed=seed)
        cdef int n = self.n_arms, i, j
        cdef versus_t *pair
        self.stride = (n + 15) // 16 * 16
        self.pairs = <versus_t *>self.array("pairs", (n, n, sizeof(versus_t) // sizeof(double)), np.float64)
        self.tails = <uint8_t *>self.array("tails", (n, self.stride), np.uint8)
        self.tops = <uint8_t *>self.array("tops", (n, self.stride), np.uint8)
        self.odds = <uint8_t *>self.array("odds", (n, self.stride), np.uint8)
        self.rests = <double *>self.array("rests", (n, self.stride), np.float64)
        self.leader = <int64_t *>self.array("leader", 1)
        self.favourite = <int64_t *>self.array("favourite", 1)
        self.rates = <double *>self.array("rates", 2 * n, np.float64)
        self.calm = <double *>self.array("calm", 2, np.float64)
        self._ranges.update(leader=(0, n - 1), favourite=(-1, n - 1), rates=(-1, 1), calm=(-1, 1e300))
        self.favourite[0] = -1
        self.calm[WAIT] = -1
        self.fresh = <uint8_t *>malloc(self.stride // 16 * self.stride)
        self.settled = <int *>malloc(self.stride // 16 * sizeof(int))
        self.beaten = <int16_t *>malloc(self.stride * sizeof(int16_t))
        self.candidates = <int *>malloc(n * sizeof(int))
        self.events = <int *>malloc(2 * n * sizeof(int))
        self.upsets = <uint8_t *>malloc(self.stride)
        self.guesses = <guess_t *>malloc(n * sizeof(guess_t))
        if self.fresh == NULL or self.settled == NULL or self.beaten == NULL or self.candidates == NULL:
            raise MemoryError
        if self.events == NULL or self.upsets == NULL or self.guesses == NULL:
            raise MemoryError
        for i in range(n):
            for j in range(n):
                pair = self.pair(i, j)
                versus_new(pair)
                if i != j:
                    self.tails[j * self.stride + i] = ASK
                    self.set_odds(i, j)

    def __dealloc__(self):
        free(self.fresh)
        free(self.settled)
        free(self.beaten)
        free(self.candidates)
        free(self.events)
        free(self.upsets)
        free(self.guesses)

    @cython.final
    cdef versus_t *pair(self, int i, int j) noexcept nogil:
        return self.pairs + <size_t>j * self.n_arms + i

    cdef int choose(self, duel_t *duel) except -1 nogil:
        if self.referee is not None:
            duel.first = self.first(False)
            duel.second = self.second(duel.first)
            return 0
        if self.calm[WAIT] < 0:  # something was learnt
            if not self.is_calm():
                duel.first = self.first(False)
                duel.second = self.second(duel.first)
                return 0
            self.calm[WAIT] = arrival_wait(self.rng, self.calm[TOTAL])
        if self.calm[WAIT] < 1:
            return self.choose_in_turmoil(duel)
        self.calm[WAIT] -= 1
        duel.first = duel.second = <int>self.favourite[0]
        return 0

    # A favourite c that is a candidate comes first for sure if it wins all of its duels in the tournament, and meets
    # itself if no phi is above 1/2; which teaches nothing. So each arm has two events, theta_jc > 1/2 and phi_j > 1/2, of
    # the same chance, and the duels in which there is none are jumped over.

    cdef bint is_calm(self) noexcept nogil:
        """Whether the leader is a candidate and events are rare; their rates, and the sum."""
        cdef int n = self.n_arms, c = <int>self.leader[0], j
        cdef const uint8_t *behind = self.behind + <size_t>c * n
        cdef double total = 0, chance
        if self.n_behind[c] > 0:
            return False
        if c != self.favourite[0]:
            self.favourite[0] = c
            for j in range(n):
                self.rates[j] = -1
        for j in range(n):
            if j == c:
                self.rates[j] = self.rates[n + j] = 0
                continue
            if self.rates[j] < 0:
                chance = self.pair(j, c).above_half
                if chance > 0.5:
                    return False
                self.rates[j] = arrival_rate(fmax(chance, 0))
            self.rates[n + j] = 0 if behind[j] else self.rates[j]
            total += self.rates[j] + self.rates[n + j]
            if total > RARE:
                return False
        self.calm[TOTAL] = total
        return True

    cdef int choose_in_turmoil(self, duel_t *duel) except -1 nogil:
        """A duel with an event."""
        cdef int n = self.n_arms, c = <int>self.favourite[0], n_events, k, event
        cdef double largest = 0.5, value
        cdef bint upset = False
        n_events = arrivals_now(self.rng, self.rates, 2 * n, self.calm[TOTAL], &self.calm[WAIT], self.events)
        memset(self.upsets, 0, self.stride)
        for k in range(n_events):
            if self.events[k] < n:
                self.upsets[self.events[k]] = upset = True
        duel.first = self.first(True) if upset else c
        if duel.first != c:
            duel.second = self.second(duel.first)
            return 0
        duel.second = c
        for k in range(n_events):
            event = self.events[k] - n
            if event >= 0:
                value = beta_draw_above(self.rng, &self.pair(event, c).chance, 0.5)
                if value > largest:
                    largest, duel.second = value, event
        return 0

    cdef int first(self, bint known) noexcept nogil:
        """The candidate that wins most of a tournament of samples.

        A row of the tournament is drawn in blocks of 16 opponents, and only as far as its arm can still come first.
        Two candidates share one draw: what the row of an earlier one has settled is not drawn again. Where the
        favourite's row is known, all but the `upsets` have lost to it.
        """
        cdef int n = self.n_arms, n_blocks = self.stride // 16, n_candidates = 0, r, i, block, drawn, score
        cdef best_t best
        cdef int64_t fewest = n, front = self.favourite[0] if known else self.leader[0]
        for i in range(n):  # C = arms with the largest number of j such that u_ij > 1/2
            if self.n_behind[i] < fewest:
                fewest = self.n_behind[i]
                n_candidates = 0
            if self.n_behind[i] == fewest:
                self.candidates[n_candidates] = i
                n_candidates += 1
                if i == front:  # a high score first makes the other rows short; and what is known is not drawn
                    self.candidates[n_candidates - 1] = self.candidates[0]
                    self.candidates[0] = i
        if n_candidates == 1:
            self.leader[0] = self.candidates[0]
            return self.candidates[0]
        best.value, best.index, best.ties = -1, 0, 0
        memset(self.fresh, 1, n_blocks * self.stride)
        memset(self.beaten, 0, self.stride * sizeof(int16_t))
        memset(self.settled, 0, n_blocks * sizeof(int))
        for r in range(n_candidates):
            i = self.candidates[r]
            score = self.settled[i // 16] - self.beaten[i]
            drawn = 0
            while drawn < n_blocks and score + n - 16 * drawn >= best.value:
                score += self.sample(i, drawn, known and i == self.favourite[0])
                drawn += 1
            for block in range(drawn):
                self.fresh[block * self.stride + i] = 0
                self.settled[block] += 1
            if drawn == n_blocks:
                consider(self.rng, &best, score, i)
        self.leader[0] = best.index
        return best.index

    @cython.final
    cdef int sample(self, int i, int block, bint known) noexcept nogil:
        """How many fresh j of a block have a sampled theta_ij > 1/2; each is beaten once more."""
        cdef size_t start = <size_t>i * self.stride + 16 * block
        cdef uint64_t open[2]
        cdef uint8_t yes[16]
        cdef int lane
        if known:
            for lane in range(16):
                yes[lane] = 16 * block + lane < self.n_arms and 16 * block + lane != i and not self.upsets[16 * block + lane]
        elif draw16(self.odds + start, eight_bytes(self.rng), eight_bytes(self.rng), yes, open):
            while (lane := next_lane(open)) >= 0:
                yes[lane] = uniform(self.rng) < self.rests[start + lane]
        add16(self.beaten + 16 * block, yes)
        return sum16(yes, self.fresh + i // 16 * self.stride + 16 * block)

    cdef int second(self, int first) noexcept nogil:
        """argmax phi_i over the arms with l_i,first <= 1/2, where phi_first = 1/2."""
        cdef betas_t row  # phi_i ~ Beta(w_i,first + 1, w_first,i + 1): the column, not the row
        cdef int chosen
        row.first, row.stride = &self.pair(0, first).chance, sizeof(versus_t)
        row.n, row.bar, row.likely, row.scratch = self.n_arms, 0.5, -1, self.guesses
        row.tails = self.tails + <size_t>first * self.stride
        row.tops = self.tops + <size_t>first * self.stride
        if self.referee is not None:  # nobody meets itself, or is spared: evidence is wanted
            chosen = beta_argmax(self.rng, &row, first, self.referee.gone, -1)
            return chosen if chosen >= 0 else first
        # l_i,first > 1/2 is u_first,i < 1/2: first is behind
        chosen = beta_argmax(self.rng, &row, first, self.behind + <size_t>first * self.n_arms, 0.5)
        return chosen if chosen >= 0 else first

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        if self.is_out(winner) or self.is_out(loser):
            return 0
        Optimistic.learn(self, duel, outcome)
        if outcome != TIE and self.rules_out(winner, loser):
            self.drop(loser)
        return 0

    cdef void drop(self, int gone) noexcept nogil:
        """Nobody is behind an arm that is out, or wins against it in the tournament; and it is no candidate."""
        cdef int n = self.n_arms, i
        for i in range(n):
            self.n_behind[i] -= self.behind[<size_t>i * n + gone]
            self.behind[<size_t>i * n + gone] = self.behind[<size_t>gone * n + i] = 0
            self.odds[<size_t>i * self.stride + gone] = 0
            self.rests[<size_t>i * self.stride + gone] = 0
        self.n_behind[gone] = 2 * n

    cdef void count(self, int winner, int loser) noexcept nogil:
        cdef versus_t *won = self.pair(winner, loser)
        cdef versus_t *lost = self.pair(loser, winner)
        Optimistic.count(self, winner, loser)
        self.calm[WAIT] = -1
        if winner == self.favourite[0]:
            self.rates[loser] = -1
        elif loser == self.favourite[0]:
            self.rates[winner] = -1
        versus_count(won, lost)
        self.set_odds(winner, loser)
        self.set_odds(loser, winner)
        self.tails[<size_t>loser * self.stride + winner] = ASK
        self.tails[<size_t>winner * self.stride + loser] = ASK

    cdef void catch_up(self, double log_t) noexcept nogil:
        Optimistic.catch_up(self, log_t)
        self.calm[WAIT] = -1

    @cython.final
    cdef void set_odds(self, int i, int j) noexcept nogil:
        cdef double above_half = self.pair(i, j).above_half
        cdef size_t ij = <size_t>i * self.stride + j
        self.odds[ij] = odds(above_half)
        self.rests[ij] = rest(above_half)
