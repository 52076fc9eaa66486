"""CertifiedMulti: many arms on one page, and a guarantee at any time that the best of them is not lost."""

from numbers import Real

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, exp, fmin, log, log1p
from libc.stdint cimport int64_t
from numpy.random.c_distributions cimport random_beta

from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t, won
from rankduel.bandits.elimination import Confidence
from rankduel.bandits.parameters import whole
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.randomness.draws cimport best_t, consider

cnp.import_array()

cdef enum:
    N_STAKES = 4
cdef double[N_STAKES] STAKES = [0.03, 0.1, 0.3, 0.9]


cdef class CertifiedMulti(MultiBandit):
    """Find the Condorcet winner on shared pages, and lose it with probability at most delta: at any time, for any K.

    Idea
        If arm i is the best, no page should on average prefer another to it. So a bet against i, placed before the page
        is shown, cannot be expected to gain: its wealth E_i starts at 1 and is multiplied, for each page, by
        1 - stake * sum_j pi_j y_ij, where y_ij is the preference of i over j, from -1 to 1, and the weights pi_j, which
        sum up to 1, are those of the arms that looked better than i by then, in proportion to how much. One page is one
        factor: the preferences of a page depend on each other, and a product of several would not be a fair bet.
        Wealth is the mean over four stakes, and an arm leaves when it has reached 1 / delta. A page is shared by the
        champion, the arm against which there is most evidence, so that it goes soon, and the best of a Thompson draw
        over how much arms are preferred.

    Parameters
        n_arms: K, at least 1.
        delta: the chance to lose the best arm, in (0, 1).
        arms_per_duel: m, at least 2: arms on a page, while so many are left. With 2, the champion and the best of the draw.
        seed: of the bandit's own random streams; None draws a fresh one.

    Cost
        O(K + m^2) time per duel, where each arm left costs a Beta draw; O(K) memory.

    Guarantee
        The Condorcet winner is ever eliminated with probability at most delta, whatever pages are shown (Ville's
        inequality; there is one such arm, so no union over arms is paid). It needs preferences from -1 to 1 of which no
        page's mean, given all that was told before, is below 0 for the best arm against any other: what Team Draft
        and Probabilistic Multileaving are made for. SOSM is not: position bias can turn its preferences against the
        best, and then nothing is guaranteed. Pairwise preferences are not bounded, and are refused. Outcomes may come
        late, as long as the delay does not depend on them.

    References
        Ville: Etude critique de la notion de collectif. 1939.
        Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B 86(1), 2024.

    Deviations
        It is of this library, and has no paper of its own.

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
    cdef double needed  # evidence
    cdef double *bets  # bets[arm, stake]: log E
    cdef double *_evidence  # log of their mean
    cdef double *wins
    cdef double *losses
    cdef int64_t *left  # the arms alive, in ascending order; n_alive of them
    cdef double *thetas  # of the draw, by the place in `left`
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
        for k in range(self.n_alive):  # theta_i ~ Beta(wins_i + 1, losses_i + 1) of those who are not there yet
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
        """The arm that is preferred most; ties are broken at random."""
        cdef int k
        cdef best_t best
        best.value, best.index, best.ties = -1, 0, 0
        for k in range(self.n_alive):
            consider(self.rng, &best, self.mean(<int>self.left[k]), <int>self.left[k])
        return best.index

    cdef int nearest_to_leave(self, int champion) noexcept nogil:
        """Of the others, the arm with most evidence against it."""
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
        """How much it is preferred: the mean of its posterior."""
        return (self.wins[arm] + 1) / (self.wins[arm] + self.losses[arm] + 2)

    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil:
        cdef int x
        self.check(duel.n, preferences)
        for x in range(duel.n):
            self.bet(duel, x, preferences + <size_t>x * duel.n)
        for x in range(duel.n):  # what bets were placed on is as it was before this page
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
                        f"preferences must be from -1 to 1, as Team Draft and Probabilistic Multileaving give them, "
                        f"got {preferences[xy]:g}"
                    )
        return 0

    cdef void bet(self, const multi_duel_t *duel, int x, const double *preferences) noexcept nogil:
        """One factor for this page: 1 - stake * sum_j pi_j y_ij."""
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
        """The arms still in the race, in ascending order."""
        return self._arrays["left"][:self.n_alive].copy()

    @property
    def champion(self):
        """Of the arms left, the one that is preferred most."""
        alive, wins, losses = self.alive, self._arrays["wins"], self._arrays["losses"]
        return int(alive[((wins + 1) / (wins + losses + 2))[alive].argmax()])

    def confidence(self):
        """What is guaranteed now, in numbers and, by `str`, in words."""
        alive = self.alive
        least = float(self._arrays["evidence"].min())
        return Confidence(self._parameters["delta"], tuple(alive.tolist()), False, None, least)

    @property
    def evidence(self):
        """The logarithm of the wealth of the bets against each arm; an arm leaves at log(1 / delta)."""
        return self._arrays["evidence"].copy()
