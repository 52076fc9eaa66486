"""RMED1: Relative Minimum Empirical Divergence (Komiyama et al. 2015)."""

import numpy as np

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t, uint8_t

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.parameters import number
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.randomness import generator
from rankduel.randomness.draws cimport below, best_t, consider


cdef class RMED1(Bandit):
    """Find the Condorcet winner of a few dozen arms with as few duels per arm as the lower bound on regret allows.

    Idea
        Use it when you have few arms, a Condorcet winner and a long horizon. I_i sums the empirical divergences
        n_ij d(p_ij, 1/2) over all arms j that beat arm i so far. exp(-I_i) can be read as the likelihood that arm i is
        the Condorcet winner. Let i* be the arm with the smallest value I*. All plausible arms,
        I_i - I* <= log t + f(K), take turns. Each meets i*, if i* beats it so far or draws with it. Otherwise it meets
        the arm with the best record against it. An arm that beats all others so far meets i* too.

    Parameters
        n_arms: K, at least 1.
        f: f(K), > 0. None is the paper's choice, 0.3 K^1.01.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K) time per duel, O(K^2) memory. The first K (K - 1) / 2 duels play every pair once.

    Guarantee
        Regret O(K log T + K^(2 + e)) if a Condorcet winner exists. The constant of log T is the best possible if the
        winner is the most efficient opponent of every other arm, with the least regret per unit of divergence.

    References
        Komiyama, Honda, Kashima, Nakagawa: Regret lower bound and optimal algorithm in dueling bandit problem.
        COLT 2015, Algorithm 1 and 2 (RMED1).

    Deviations
        The "arbitrary order" of the paper is a random order of the arms, drawn once. If you tell outcomes late or not
        at all, a pair may still be without a result. It counts as even.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.RMED1(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef double f
    cdef double *wins  # wins[i, j]: i over j
    cdef double *rate  # rate[i, j]: win rate of i over j, 1/2 before any result
    cdef double *share  # share[i, j]: the term of j in the sum I_i
    cdef double *evidence  # I_i
    cdef int64_t *n_losing  # number of j with a term in I_i. If it is 0, I_i is set to 0 exactly
    cdef int64_t *n_opponents  # |O_i|, the number of opponents that i does not beat so far
    cdef int64_t *order  # random order of the arms
    cdef int64_t *pair  # the next pair of the first pass, as indices in `order`
    cdef int64_t *turns  # L_C in the first n entries, L_N in the last n
    cdef int64_t *counts  # [length of L_C, number of its arms that had their turn, length of L_N]
    cdef int64_t *best  # i* if it is unique, -1 if it must be searched
    cdef double *barrier  # lower bound of I_j over the arms in no list, except the arm that had its turn last
    cdef uint8_t *waiting  # in L_R, the arms of L_C that had no turn yet. They are not added to L_N
    cdef uint8_t *listed  # in L_N

    def __init__(self, n_arms, *, f=None, seed=None):
        f = f if f is None else number("f", f)
        super().__init__(n_arms, seed=seed, f=f)
        cdef int n = self.n_arms
        self.f = 0.3 * n**1.01 if f is None else f
        self.wins = <double *>self.array("wins", (n, n), np.float64)
        self.rate = <double *>self.array("rate", (n, n), np.float64)
        self.share = <double *>self.array("share", (n, n), np.float64)
        self.evidence = <double *>self.array("evidence", n, np.float64)
        self.n_losing = <int64_t *>self.array("n_losing", n)
        self.n_opponents = <int64_t *>self.array("n_opponents", n)
        self.order = <int64_t *>self.array("order", n)
        self.pair = <int64_t *>self.array("pair", 2)
        self.turns = <int64_t *>self.array("turns", 2 * n)
        self.counts = <int64_t *>self.array("counts", 3)
        self.best = <int64_t *>self.array("best", 1)
        self.barrier = <double *>self.array("barrier", 1, np.float64)
        self.waiting = <uint8_t *>self.array("waiting", n, np.uint8)
        self.listed = <uint8_t *>self.array("listed", n, np.uint8)
        self._arrays["rate"][:] = 0.5
        self._arrays["n_opponents"][:] = n - 1
        self._arrays["order"][:] = generator(self.seed, "arms").permutation(n)
        self._arrays["turns"][:n] = self._arrays["order"]  # L_C = L_R = all arms, L_N is empty
        self._arrays["waiting"][:] = 1
        self.counts[0] = n
        self.pair[1] = 1
        self.best[0] = -1
        self.barrier[0] = INFINITY

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef int best
        if self.pair[0] < self.n_arms - 1:  # play every pair once
            duel.first, duel.second = <int>self.order[self.pair[0]], <int>self.order[self.pair[1]]
            self.pair[1] += 1
            if self.pair[1] == self.n_arms:
                self.pair[0] += 1
                self.pair[1] = self.pair[0] + 1
            return 0
        best = self.most_plausible()
        if self.counts[1] > 0:
            self.admit(best)
        if self.counts[1] == self.counts[0]:
            self.next_round()
        duel.first = <int>self.turns[self.counts[1]]
        duel.second = self.opponent(duel.first, best)
        self.counts[1] += 1
        self.waiting[duel.first] = 0
        return 0

    cdef int most_plausible(self) noexcept nogil:
        """i* = argmin I_i, ties broken at random."""
        cdef double least = INFINITY
        cdef int i, chosen = 0, ties = 0
        if self.best[0] >= 0:
            return <int>self.best[0]
        for i in range(self.n_arms):
            least = min(least, self.evidence[i])
        for i in range(self.n_arms):
            if as_low(self.evidence[i], least):
                ties += 1
                if below(self.rng, ties) == 0:
                    chosen = i
        if ties == 1:
            self.best[0] = chosen
        return chosen

    cdef void admit(self, int best) noexcept nogil:
        """Every arm not in L_R that is plausible, I_j - I* <= log t + f(K), joins L_N once."""
        cdef double limit = self.evidence[best] + log(self.told if self.told > 0 else 1) + self.f
        cdef int place
        self.admit_arm(self.last(), limit)  # usually the only arm to add
        if self.barrier[0] <= limit:
            self.barrier[0] = INFINITY
            for place in range(self.n_arms):
                self.admit_arm(<int>self.order[place], limit)

    cdef int last(self) noexcept nogil:
        """The arm that had its turn last, or -1 at the start of a round."""
        return <int>self.turns[self.counts[1] - 1] if self.counts[1] > 0 else -1

    cdef void admit_arm(self, int j, double limit) noexcept nogil:
        if self.waiting[j] or self.listed[j]:
            return
        if self.evidence[j] <= limit:
            self.listed[j] = 1
            self.turns[self.n_arms + self.counts[2]] = j
            self.counts[2] += 1
        else:
            self.barrier[0] = min(self.barrier[0], self.evidence[j])

    cdef void next_round(self) noexcept nogil:
        """Set L_C = L_R = L_N, then empty L_N. L_N has at least one arm here, because i* is always plausible."""
        cdef int k, j
        for k in range(<int>self.counts[2]):
            j = <int>self.turns[self.n_arms + k]
            self.turns[k] = j
            self.waiting[j], self.listed[j] = 1, 0
        self.counts[0], self.counts[1], self.counts[2] = self.counts[2], 0, 0

    cdef int opponent(self, int l, int best) noexcept nogil:
        """i* if it is among O_l or O_l is empty, else argmin of the rate over j != l, ties broken at random."""
        cdef const double *rate = self.rate + <size_t>l * self.n_arms
        cdef int j
        cdef best_t lowest
        lowest.value, lowest.index, lowest.ties = -2, best, 0
        if (l != best and rate[best] <= 0.5) or self.n_opponents[l] == 0:
            return best
        for j in range(self.n_arms):
            if j != l:
                consider(self.rng, &lowest, -rate[j], j)
        return lowest.index

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        if outcome == TIE or winner == loser:
            return 0
        self.wins[<size_t>winner * self.n_arms + loser] += 1
        self.weigh(winner, loser)
        self.weigh(loser, winner)
        return 0

    cdef void weigh(self, int i, int j) noexcept nogil:
        """Update the term of j in I_i: n_ij d(rate_ij, 1/2) if j beats i so far, else 0."""
        cdef size_t ij = <size_t>i * self.n_arms + j
        cdef double w = self.wins[ij], lost = self.wins[<size_t>j * self.n_arms + i], n = w + lost
        cdef double before = self.evidence[i], share = 0
        self.n_opponents[i] += (w <= lost) - (self.rate[ij] <= 0.5)
        self.n_losing[i] += (w < lost) - (self.rate[ij] < 0.5)
        self.rate[ij] = w / n
        if w < lost:
            share = lost * log(2 * lost / n) + (w * log(2 * w / n) if w > 0 else 0)
        self.evidence[i] = before + (share - self.share[ij]) if self.n_losing[i] > 0 else 0
        self.share[ij] = share
        if self.evidence[i] != before:
            if not (self.waiting[i] or self.listed[i] or i == self.last()):
                self.barrier[0] = min(self.barrier[0], self.evidence[i])
            if self.best[0] == i or (self.best[0] >= 0 and as_low(self.evidence[i], self.evidence[self.best[0]])):
                self.best[0] = -1

    def _snapshot_rules(self, stored):
        yield from Bandit._snapshot_rules(self, stored)
        arrays, n = self._arrays, self.n_arms
        wins, rate, evidence = arrays["wins"], arrays["rate"], arrays["evidence"]
        yield "wins", wins, Values(0, MAX_DUELS, whole=True)
        yield "wins", wins.diagonal(), Equal(0)
        played = wins + wins.T
        yield "rate", rate, Equal(np.where(played > 0, wins / np.maximum(played, 1), 0.5))
        yield "n_losing", arrays["n_losing"], Equal((rate < 0.5).sum(1))
        yield "n_opponents", arrays["n_opponents"], Equal((rate <= 0.5).sum(1) - 1)
        yield "share", arrays["share"], Values(-1, MAX_DUELS)
        yield "evidence", evidence, Values(-1, 2.0**60)
        yield "order", np.sort(arrays["order"]), Equal(np.arange(n))
        first, second = arrays["pair"].tolist()
        yield "pair", first, Values(0, n - 1)
        yield "pair", second, Values(first + 1, n - 1 if first < n - 1 else n)
        yield "best", arrays["best"], Values(-1, n - 1)
        # L_C consists of arms that had their turn and of L_R. No arm is in both L_R and L_N, or twice in one of them
        yield "counts", arrays["counts"], Values([1, 0, 0], n)
        long, used, longer = arrays["counts"].tolist()
        yield "counts", used, Values(0, long)
        turns, waiting, listed = arrays["turns"], arrays["waiting"], arrays["listed"]
        yield "turns", turns, Values(0, n - 1)
        yield "waiting", waiting, Values(0, 1)
        yield "listed", listed, Values(0, 1 - waiting)
        yield "turns", np.sort(turns[used:long]), Equal(np.flatnonzero(waiting))
        yield "turns", np.sort(turns[n:n + longer]), Equal(np.flatnonzero(listed))
        outside = (waiting == 0) & (listed == 0)
        if used > 0:  # `admit` checks the arm that had its turn last without the barrier
            outside[turns[used - 1]] = False
        yield "barrier", arrays["barrier"], Values(-1, INFINITY)
        yield "barrier", arrays["barrier"][0], Values(-1, evidence[outside].min(initial=INFINITY))

    @property
    def champion(self):
        """i*, the arm with the smallest I_i."""
        return int(self._arrays["evidence"].argmin())


cdef inline bint as_low(double evidence, double least) noexcept nogil:
    """Whether `evidence` equals `least` up to rounding. Sums of the same terms can differ in their last digits."""
    return evidence <= least + 1e-9 * (1 + least)
