"""DTS: Double Thompson Sampling (Wu & Liu 2016)."""

import numpy as np

cimport cython
from libc.math cimport INFINITY, fmax, log, log1p, pow
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from rankduel.bandits.base cimport FIRST, TIE, duel_t, outcome_t
from rankduel.bandits.kernels.coin_words cimport bit
from rankduel.bandits.families.optimistic cimport Optimistic
from rankduel.bandits.snapshot_checks import Equal, Values, curve_rules
from rankduel.bandits.kernels.pair_posterior cimport versus_count, versus_new, versus_t
from rankduel.bandits.kernels.sampled_tournament cimport SampledTournament
from rankduel.randomness.arrivals cimport arrival_rate, arrival_wait, arrivals_now
from rankduel.randomness.beta cimport ASK, beta_argmax, beta_draw_above, betas_t, guess_t
from rankduel.randomness.draws cimport below, uniform

cdef enum:
    TOTAL = 0
    WAIT = 1

cdef double MAX_EVENTS_PER_DUEL = 0.5  # expected number. With more events, plain draws are cheaper than skipping


cdef class DTS(Optimistic):
    """Find a Copeland winner of a few dozen arms by sampling preferences twice from their posterior.

    Idea
        Use it when you have few arms and a Condorcet winner may not exist. The candidates are the arms that beat the
        most others by their upper confidence bounds. The first arm is the candidate that wins the most pairs of a
        sampled tournament. The second arm comes from a new sample of the preferences against the first arm: it is the
        arm with the largest sampled probability to win, except arms that beat the first arm by their lower confidence
        bound. If no sampled probability is above 1/2, the first arm meets itself.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The tuned value of the MergeDTS paper is 0.8^7. Wu and Liu use 0.51.
        elimination: None is the published algorithm, which eliminates no arm. Set it to `Certified(delta)` if you want
            arms to be eliminated with a guarantee. Then no arm meets itself.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K |candidates|) time per duel, and O(K^2) memory. The constant is about three instructions for a pair of
        candidates that have hardly met.

    Guarantee
        For alpha > 0.5, regret is O(K^2 log T). It is O(K log T + K^2 log log T) with a Condorcet winner, and in most
        practical problems without one.

    References
        Wu, Liu: Double Thompson sampling for dueling bandits. NeurIPS 2016, Algorithm 1.

    Deviations
        None in distribution. The events theta_ij > 1/2 are drawn directly. Beta variates for the second arm are drawn
        only if they can affect the choice. Arms that never lost to the first arm are drawn together, and so are arms
        that never won.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.DTS(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef versus_t *pairs  # pairs[j, i]: record of i against j, so that all opponents of j are contiguous
    cdef uint8_t *tails  # tails[j, i] and tops[j, i]: bytes of `betas_t` for the same pair
    cdef uint8_t *tops
    cdef SampledTournament tournament
    cdef int64_t *leader  # winner of the last sampled tournament
    cdef int *candidates
    cdef int64_t *favourite  # the arm that meets itself in skipped duels, -1 before there is one
    cdef double *rates  # arrival rates of theta > 1/2 against the favourite, then of phi > 1/2. -1: not computed yet
    cdef double *skip_state  # "calm" in snapshots: [sum of the rates, time until the next event or -1 if not drawn yet]
    cdef int *events  # scratch: the events of one duel
    cdef uint64_t *upsets  # bit set of the arms with theta > 1/2 against the favourite
    cdef int8_t *streaks  # streaks[j, i] for Beta(a, b) of i against j: a if b = 1, -b if a = 1 < b, else 0. Derived
    cdef uint8_t *closed  # scratch: arms that `beta_argmax` need not draw
    cdef guess_t *guesses
    cdef int stride
    cdef int n_words  # 64-bit words of a bit set of all arms

    def __init__(self, n_arms, *, alpha=0.8**7, elimination=None, seed=None):
        super().__init__(n_arms, alpha=alpha, elimination=elimination, seed=seed)
        cdef int n = self.n_arms, i, j
        self.stride = (n + 15) // 16 * 16
        self.pairs = <versus_t *>self.array("pairs", (n, n, sizeof(versus_t) // sizeof(double)), np.float64)
        self.tails = <uint8_t *>self.array("tails", (n, self.stride), np.uint8)
        self.tops = <uint8_t *>self.array("tops", (n, self.stride), np.uint8)
        self.leader = <int64_t *>self.array("leader", 1)
        self.favourite = <int64_t *>self.array("favourite", 1)
        self.rates = <double *>self.array("rates", 2 * n, np.float64)
        self.skip_state = <double *>self.array("calm", 2, np.float64)
        self.favourite[0] = -1
        self.skip_state[WAIT] = -1
        self.tournament = SampledTournament(n)
        self.tournament.pairs = self.pairs
        self.n_words = self.tournament.n_words
        self.candidates = <int *>malloc(n * sizeof(int))
        self.events = <int *>malloc(2 * n * sizeof(int))
        self.upsets = <uint64_t *>malloc(self.n_words * sizeof(uint64_t))
        self.streaks = <int8_t *>calloc(<size_t>n * self.stride, sizeof(int8_t))
        self.closed = <uint8_t *>malloc(self.stride)
        self.guesses = <guess_t *>malloc(n * sizeof(guess_t))
        if self.candidates == NULL or self.events == NULL:
            raise MemoryError
        if self.upsets == NULL or self.streaks == NULL or self.closed == NULL or self.guesses == NULL:
            raise MemoryError
        for j in range(n):
            for i in range(n):
                versus_new(self.pair(i, j))
            # The same as `update_derived` for Beta(1, 1), except for the pair of j with itself
            memset(self.streaks + <size_t>j * self.stride, 1, n)
            self.streaks[<size_t>j * self.stride + j] = 0

    def __dealloc__(self):
        free(self.candidates)
        free(self.events)
        free(self.upsets)
        free(self.streaks)
        free(self.closed)
        free(self.guesses)

    def _snapshot_rules(self, stored):
        yield from Optimistic._snapshot_rules(self, stored)
        arrays, n = self._arrays, self.n_arms
        yield "pairs", arrays["pairs"][:, :, 0], Equal(arrays["wins"].T + 1)
        yield "pairs", arrays["pairs"][:, :, 1], Equal(arrays["wins"] + 1)
        yield from curve_rules("pairs", arrays["pairs"], bar=0.5)
        yield "tails", arrays["tails"][:, n:], Equal(0)
        yield "tops", arrays["tops"][:, n:], Equal(0)
        yield "leader", arrays["leader"], Values(0, n - 1)
        yield "rates", arrays["rates"], Values(0, 1, markers=(-1,))
        yield "calm", arrays["calm"][TOTAL], Values(0, MAX_EVENTS_PER_DUEL)
        yield "calm", arrays["calm"][WAIT], Values(0, INFINITY, markers=(-1,))
        yield "favourite", arrays["favourite"], Values(0 if self.skip_state[WAIT] >= 0 else -1, n - 1)

    def _load(self, arrays):
        cdef int i, j
        super()._load(arrays)
        for j in range(self.n_arms):
            if self.is_out(j):
                self.tournament.remove(j)
            for i in range(self.n_arms):
                if i != j and self.pair(i, j).chance.a + self.pair(i, j).chance.b > 2:  # they have met
                    self.update_derived(i, j)

    @cython.final
    cdef versus_t *pair(self, int i, int j) noexcept nogil:
        return self.pairs + <size_t>j * self.n_arms + i

    cdef int choose(self, duel_t *duel) except -1 nogil:
        if self.certificate is not None:
            duel.first = self.first(False)
            duel.second = self.second(duel.first)
            return 0
        if self.skip_state[WAIT] < 0:  # the rates have changed since the last duel
            if not self.can_skip():
                duel.first = self.first(False)
                duel.second = self.second(duel.first)
                return 0
            self.skip_state[WAIT] = arrival_wait(self.rng, self.skip_state[TOTAL])
        if self.skip_state[WAIT] < 1:
            return self.choose_with_events(duel)
        self.skip_state[WAIT] -= 1
        duel.first = duel.second = <int>self.favourite[0]
        return 0

    # Late in a run nearly all duels are the favourite c against itself, which changes no counts. They are skipped.
    # If c is a candidate and wins all of its pairs in the sampled tournament, it is the first arm. If in addition no
    # phi_j is above 1/2, it is the second arm too. So each arm j has two events with the same probability,
    # theta_jc > 1/2 and phi_j > 1/2, and only a duel in which one of them happens is computed.

    cdef bint can_skip(self) noexcept nogil:
        """Whether the leader is a candidate and events are rare. Fills in their rates and the sum."""
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
            if total > MAX_EVENTS_PER_DUEL:
                return False
        self.skip_state[TOTAL] = total
        return True

    cdef int choose_with_events(self, duel_t *duel) except -1 nogil:
        """Choose a duel in which at least one event happens."""
        cdef int n = self.n_arms, c = <int>self.favourite[0], n_events, k, event
        cdef double largest = 0.5, value
        cdef bint upset = False
        n_events = arrivals_now(self.rng, self.rates, 2 * n, self.skip_state[TOTAL], &self.skip_state[WAIT], self.events)
        memset(self.upsets, 0, self.n_words * sizeof(uint64_t))
        for k in range(n_events):
            if self.events[k] < n:
                self.upsets[self.events[k] // 64] |= bit(self.events[k])
                upset = True
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
        """The candidate with the most wins in a sampled tournament. If `known`, `upsets` is the favourite's row."""
        cdef int n = self.n_arms, n_candidates = 0, i, best
        cdef int64_t fewest = n, front = self.favourite[0] if known else self.leader[0]
        for i in range(n):  # C = arms with the largest number of j such that u_ij > 1/2
            if self.n_behind[i] < fewest:
                fewest = self.n_behind[i]
                n_candidates = 0
            if self.n_behind[i] == fewest:
                self.candidates[n_candidates] = i
                n_candidates += 1
                if i == front:  # start with a high score, so that other rows stop early, or with the row that is known
                    self.candidates[n_candidates - 1] = self.candidates[0]
                    self.candidates[0] = i
        if n_candidates == 1:
            self.leader[0] = self.candidates[0]
            return self.candidates[0]
        best = self.tournament.play(
            self.rng, self.candidates, n_candidates, self.n_alive, <int>self.favourite[0] if known else -1, self.upsets
        )
        self.leader[0] = best
        return best

    cdef int second(self, int first) noexcept nogil:
        """argmax phi_i over the arms with l_i,first <= 1/2, where phi_first = 1/2."""
        cdef betas_t row  # phi_i ~ Beta(w_i,first + 1, w_first,i + 1): a column of w, contiguous in `pairs`
        cdef const int8_t *streaks = self.streaks + <size_t>first * self.stride
        # l_i,first > 1/2 is the same as u_first,i < 1/2, which is behind[first, i]
        cdef const uint8_t *barred = self.behind + <size_t>first * self.n_arms
        cdef double largest = 0.5, value
        cdef int total = 0, n_winless = 0, chosen = first, i
        cdef bint unbeaten = False
        if self.certificate is not None:  # no duel of an arm with itself, and no bound: every duel must give evidence
            barred, largest = self.certificate.gone, -1
        for i in range(self.n_arms):
            self.closed[i] = barred[i] | (streaks[i] != 0)
            total += streaks[i] if (streaks[i] > 0) & (barred[i] == 0) else 0
            n_winless += (streaks[i] < 0) & (barred[i] == 0)
        # An unbeaten arm, b = 1, is at most x with probability x^a, and all of them are with probability x^total. So
        # the largest value is one draw from this distribution. It belongs to each arm with probability a / total,
        # independently of the value.
        if total > 0:
            value = pow(uniform(self.rng), 1.0 / total)
            if value > largest:
                largest, unbeaten = value, True
        if n_winless > 0 and self.winless(streaks, barred, n_winless, &largest, &chosen):
            unbeaten = False
        row.first, row.stride = &self.pair(0, first).chance, sizeof(versus_t)
        row.n, row.bar, row.scratch = self.n_arms, 0.5, self.guesses
        row.tails = self.tails + <size_t>first * self.stride
        row.tops = self.tops + <size_t>first * self.stride
        i = beta_argmax(self.rng, &row, first, self.closed, largest)
        if i >= 0:
            return i
        if unbeaten:
            total = below(self.rng, total)
            while total >= 0:
                i += 1
                total -= streaks[i] if streaks[i] > 0 and not barred[i] else 0
            return i
        return chosen

    @cython.final
    cdef bint winless(
        self, const int8_t *streaks, const uint8_t *barred, int n_left, double *largest, int *chosen
    ) noexcept nogil:
        """Draw the arms with a = 1 < b. If one exceeds `largest`, update `largest` and `chosen`, and return true.

        Each is above x with probability (1 - x)^b, at most (1 - x)^2. A geometric variate says how many arms to skip
        until a coin with probability (1 - x)^2 succeeds. That arm is above x with probability (1 - x)^(b - 2).
        """
        cdef double gap = 1 - fmax(largest[0], 0), wait
        cdef int i = -1, to_go
        cdef bint found = False
        while (wait := log(1 - uniform(self.rng)) / log1p(-gap * gap)) < n_left:
            to_go = <int>wait
            n_left -= to_go + 1
            while to_go >= 0:
                i += 1
                to_go -= streaks[i] < 0 and not barred[i]
            if uniform(self.rng) < pow(gap, -streaks[i] - 2):
                gap *= pow(1 - uniform(self.rng), -1.0 / streaks[i])
                chosen[0], found = i, True
        if found:
            largest[0] = 1 - gap
        return found

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        if self.is_out(winner) or self.is_out(loser):
            return 0
        Optimistic.learn(self, duel, outcome)
        if outcome != TIE and self.rules_out(winner, loser):
            self.remove_arm(loser)
        return 0

    cdef void remove_arm(self, int gone) noexcept nogil:
        """Take an eliminated arm out of the bounds, the candidates and the sampled tournament."""
        cdef int n = self.n_arms, i
        for i in range(n):
            self.n_behind[i] -= self.behind[<size_t>i * n + gone]
            self.behind[<size_t>i * n + gone] = self.behind[<size_t>gone * n + i] = 0
        self.n_behind[gone] = 2 * n
        self.tournament.remove(gone)

    cdef void count(self, int winner, int loser) noexcept nogil:
        cdef versus_t *won = self.pair(winner, loser)
        cdef versus_t *lost = self.pair(loser, winner)
        Optimistic.count(self, winner, loser)
        self.skip_state[WAIT] = -1
        if winner == self.favourite[0]:
            self.rates[loser] = -1
        elif loser == self.favourite[0]:
            self.rates[winner] = -1
        versus_count(won, lost)
        self.update_derived(winner, loser)
        self.update_derived(loser, winner)
        # An arm with a streak needs no curve, because it is not drawn by `beta_argmax`.
        self.tails[<size_t>loser * self.stride + winner] = 0 if self.streaks[<size_t>loser * self.stride + winner] else ASK
        self.tails[<size_t>winner * self.stride + loser] = 0 if self.streaks[<size_t>winner * self.stride + loser] else ASK

    cdef void catch_up(self, double log_t) noexcept nogil:
        Optimistic.catch_up(self, log_t)
        self.skip_state[WAIT] = -1

    @cython.final
    cdef void update_derived(self, int i, int j) noexcept nogil:
        """Update the tournament and the streaks from the record of i against j."""
        cdef const versus_t *pair = self.pair(i, j)
        cdef double a = pair.chance.a, b = pair.chance.b
        self.tournament.update(i, j)
        self.streaks[<size_t>j * self.stride + i] = <int8_t>a if b == 1 and a <= 127 else <int8_t>-b if a == 1 and b <= 127 else 0
