"""CertifiedMulti: many arms per duel, with an anytime guarantee for the best arm."""

from numbers import Real

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, exp, fmin, log, log1p
from libc.stdint cimport int64_t
from numpy.random.c_distributions cimport random_beta

from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t, won
from rankduel.bandits.parameters import whole
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.randomness.draws cimport best_t, consider

cnp.import_array()

cdef enum:
    N_STAKES = 4
cdef double[N_STAKES] STAKES = [0.03, 0.1, 0.3, 0.9]


cdef class CertifiedMulti(MultiBandit):
    """Find the Condorcet winner by multileaving, and eliminate it with probability at most `delta`.

    Idea
        Use it when you show the results of more than two rankers on one page and need a guarantee. If arm i is the
        best, no page prefers another arm to it on average. So a bet against arm i, placed before the page is shown, has
        no positive expected gain. The wealth of the bet is the evidence E_i against arm i. It starts at 1, and each
        page multiplies it by 1 - stake * sum_j pi_j y_ij. Here y_ij is the preference of i over j, from -1 to 1. The
        weights pi_j sum to 1. They are positive for the arms that looked better than i before this page, in proportion
        to their lead. A page gives one factor only, because the preferences of a page depend on each other, and the
        product of several factors would not be a fair bet. E_i is the mean over four stakes, and arm i is eliminated
        when E_i reaches 1 / delta. A page shows the champion, the arm with the most evidence against it, and the best
        arms of a Thompson draw.

    Parameters
        n_arms: K, at least 1.
        delta: the largest probability that the best arm is ever eliminated, in (0, 1). Set it to 0.05 for 95 %
            confidence.
        arms_per_duel: m, the number of arms on a page, at least 2. All arms left, if they are fewer. With 2, a page
            shows the champion and the best arm of the draw.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K + m^2) time per duel, with one Beta draw per arm left. O(K) memory.

    Guarantee
        The Condorcet winner is eliminated with probability at most delta, over the whole run and for any choice of
        pages. This is Ville's inequality. No union bound over the arms is needed, because it is applied to one arm. Two
        conditions must hold. Preferences are from -1 to 1. And given all outcomes that were told before, the expected
        preference of the best arm over any other arm is at least 0 on every page. Team Draft and Probabilistic
        Multileaving are made for this. SOSM is not: position bias can turn its preferences against the best arm, and
        then nothing is guaranteed. The preferences of Pairwise Preference Multileaving are not bounded, and `tell`
        rejects them. You may tell outcomes late, as long as the delay does not depend on the outcome.

    References
        Ville: Etude critique de la notion de collectif. 1939.
        Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B 86(1), 2024.

    Deviations
        None. This algorithm is defined here.

    Examples
        >>> import numpy as np
        >>> import rankduel as rd
        >>> bandit = rd.CertifiedMulti(5, seed=1)
        >>> while bandit.winner is None:
        ...     duel = bandit.ask()
        ...     arms = np.array(duel.arms)
        ...     bandit.tell(duel, np.sign(arms[None, :] - arms[:, None]))  # the lower number is always preferred
        >>> bandit.winner
        0
    """

    cdef int m
    cdef double needed  # log(1 / delta), the log evidence that eliminates an arm
    cdef double *bets  # bets[arm, stake]: log wealth
    cdef double *_evidence  # log of the mean wealth of an arm's bets
    cdef double *wins
    cdef double *losses
    cdef int64_t *left  # the n_alive arms left, in ascending order
    cdef double *thetas  # the Thompson draw, by index in `left`
    cdef object _thetas

    def __init__(self, n_arms, *, delta=0.05, arms_per_duel=4, seed=None):
        if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < delta < 1:
            raise ValueError(f"delta must be > 0 and < 1, got {delta!r}")
        m = whole("arms_per_duel", arms_per_duel, minimum=2)
        super().__init__(n_arms, seed=seed, delta=float(delta), arms_per_duel=m)
        self.m = min(m, self.n_arms)
        self.needed = -log(delta)
        self.bets = <double *>self.array("bets", (self.n_arms, N_STAKES), np.float64)
        self._evidence = <double *>self.array("evidence", self.n_arms, np.float64)
        self.wins = <double *>self.array("wins", self.n_arms, np.float64)
        self.losses = <double *>self.array("losses", self.n_arms, np.float64)
        self.left = <int64_t *>self.array("left", self.n_arms)
        self._arrays["left"][:] = np.arange(self.n_arms)
        self._thetas = np.empty(self.n_arms)
        self.thetas = <double *>cnp.PyArray_DATA(self._thetas)

    cdef int choose(self, multi_duel_t *duel) except -1 nogil:
        cdef int k
        if self.n_alive <= self.m:
            for k in range(self.n_alive):
                duel.arms[k] = <int>self.left[k]
            duel.n = self.n_alive
            return 0
        duel.arms[0], duel.n = self.best(), 1
        if self.m > 2:
            duel.arms[1], duel.n = self.nearest_to_leave(duel.arms[0]), 2
        for k in range(self.n_alive):  # theta_i ~ Beta(wins_i + 1, losses_i + 1), or -1 if chosen
            self.thetas[k] = -1 if self.left[k] == duel.arms[0] or self.left[k] == duel.arms[duel.n - 1] else random_beta(
                self.rng, self.wins[self.left[k]] + 1, self.losses[self.left[k]] + 1
            )
        while duel.n < self.m:
            k = self.largest_theta()
            duel.arms[duel.n] = <int>self.left[k]
            duel.n += 1
            self.thetas[k] = -1
        return 0

    cdef int best(self) noexcept nogil:
        """The arm with the highest posterior mean, ties broken at random."""
        cdef int k
        cdef best_t best
        best.value, best.index, best.ties = -1, 0, 0
        for k in range(self.n_alive):
            consider(self.rng, &best, self.mean(<int>self.left[k]), <int>self.left[k])
        return best.index

    cdef int nearest_to_leave(self, int champion) noexcept nogil:
        """The arm with the most evidence against it, other than the champion."""
        cdef int k
        cdef best_t best
        best.value, best.index, best.ties = -INFINITY, 0, 0
        for k in range(self.n_alive):
            if self.left[k] != champion:
                consider(self.rng, &best, self._evidence[self.left[k]], <int>self.left[k])
        return best.index

    cdef int largest_theta(self) noexcept nogil:
        cdef int k, best = 0
        for k in range(1, self.n_alive):
            if self.thetas[k] > self.thetas[best]:
                best = k
        return best

    cdef double mean(self, int arm) noexcept nogil:
        """The posterior mean of the rate at which an arm is preferred."""
        return (self.wins[arm] + 1) / (self.wins[arm] + self.losses[arm] + 2)

    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil:
        cdef int x
        self.check(duel.n, preferences)
        for x in range(duel.n):
            self.bet(duel, x, preferences + <size_t>x * duel.n)
        for x in range(duel.n):  # after all bets, because a bet may only depend on counts from before this page
            self.count(duel, x, preferences + <size_t>x * duel.n)
        for x in range(duel.n):
            if self._evidence[duel.arms[x]] >= self.needed and self.n_alive > 1:
                self.eliminate(duel.arms[x])
        return 0

    cdef int check(self, int n, const double *preferences) except -1 nogil:
        cdef size_t xy
        for xy in range(<size_t>n * n):
            if not -1 <= preferences[xy] <= 1:
                with gil:
                    raise ValueError(
                        f"preferences must be from -1 to 1, got {preferences[xy]:g}; "
                        f"use Team Draft or Probabilistic Multileaving"
                    )
        return 0

    cdef void bet(self, const multi_duel_t *duel, int x, const double *preferences) noexcept nogil:
        """Multiply the bets against an arm by the factor of this page, 1 - stake * sum_j pi_j y_ij."""
        cdef int y, s, arm = duel.arms[x]
        cdef double ahead, total = 0, y_i = 0, wealth = 0
        cdef double *bets = self.bets + <size_t>arm * N_STAKES
        for y in range(duel.n):
            ahead = self.mean(duel.arms[y]) - self.mean(arm)
            if ahead > 0:
                total += ahead
                y_i += ahead * preferences[y]
        if total > 0:
            for s in range(N_STAKES):
                bets[s] += log1p(-STAKES[s] * y_i / total)
                wealth += exp(fmin(bets[s], 700)) / N_STAKES
            self._evidence[arm] = log(wealth)

    cdef void count(self, const multi_duel_t *duel, int x, const double *preferences) noexcept nogil:
        cdef int y
        for y in range(duel.n):
            self.wins[duel.arms[x]] += won(preferences[y])
            self.losses[duel.arms[x]] += won(-preferences[y])

    cdef void eliminate(self, int arm) noexcept nogil:
        cdef int k, kept = 0
        for k in range(self.n_alive):
            if self.left[k] != arm:
                self.left[kept] = self.left[k]
                kept += 1
        self.n_alive = kept

    def _snapshot_rules(self, stored):
        yield from MultiBandit._snapshot_rules(self, stored)
        arrays = self._arrays
        yield "bets", arrays["bets"], Values(-1e15, 1e15)
        yield "evidence", arrays["evidence"], Values(-INFINITY, 1e15)
        yield "wins", arrays["wins"], Values(0, MAX_DUELS)
        yield "losses", arrays["losses"], Values(0, MAX_DUELS)
        yield "left", arrays["left"], Values(0, self.n_arms - 1)
        yield "left", self.alive, Equal(np.unique(self.alive))

    @property
    def alive(self):
        """The arms that are not eliminated, in ascending order."""
        return self._arrays["left"][:self.n_alive].copy()

    @property
    def champion(self):
        """The arm with the highest posterior mean among those left."""
        alive, wins, losses = self.alive, self._arrays["wins"], self._arrays["losses"]
        return int(alive[((wins + 1) / (wins + losses + 2))[alive].argmax()])

    def confidence(self):
        """The guarantee now, in numbers; `str` gives it in words."""
        return self._confidence(self._parameters["delta"], None, float(self._arrays["evidence"].min()))

    @property
    def evidence(self):
        """The natural logarithm of the evidence against each arm. An arm is eliminated at log(1 / delta)."""
        return self._arrays["evidence"].copy()
