"""Self-Sparring of many arms at once (Sui et al. 2017)."""

import numpy as np

from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t, won
from rankduel.bandits.parameters import whole
from rankduel.bandits.snapshot_checks import Values
from rankduel.bandits.kernels.thompson cimport Thompson

MAX_ARMS_PER_DUEL = 10_000  # of one duel: more arms than any page has


cdef class MultiSelfSparring(MultiBandit):
    """Find the arm that is preferred most often (the Borda winner): m times the best arm of a Thompson draw, on one page.

    Idea
        As SelfSparring, one posterior per arm, of its chance to be preferred to whom it meets. m times draw from all
        and take the best: these meet, and each of their preferences is a win of one and a loss of another. As the
        posterior narrows, the same arm is drawn again and again, and the page becomes its own.

    Parameters
        n_arms: K, at least 1.
        arms_per_duel: m, at least 2: the draws, and so at most that many arms.
        seed: of the bandit's own random streams; None draws a fresh one.

    Cost
        About O(m log K) time per duel: a draw looks at the few arms above a level, from a tree of rates; O(K) when the level
        is moved, and in about one draw of K, where nothing is above it; O(m^2) for what is learnt. O(K) memory.

    Guarantee
        Regret O(K log T) asymptotically under approximate linearity, for preferences that are independent draws. Those
        of one page are not: it is surer of itself than it should be, the more so the larger m is.

    References
        Sui, Zhuang, Burdick, Yue: Multi-dueling bandits with dependent arms. UAI 2017, Algorithm 2.

    Deviations
        An arm that is drawn several times is once on the page, and what it would win and lose against itself is not
        counted. Preferences count by their size, at most 1: an arm has won when those that speak for it have added up to
        1, and lost when those against it have. The preferences of SOSM and Team Draft are signs, and wins at once.

    Examples
        >>> import numpy as np
        >>> import rankduel as rd
        >>> bandit = rd.MultiSelfSparring(20, arms_per_duel=3, seed=1)
        >>> for _ in range(500):
        ...     duel = bandit.ask()
        ...     arms = np.array(duel.arms)
        ...     bandit.tell(duel, np.sign(arms[None, :] - arms[:, None]))  # the lower number is always preferred
        >>> bandit.champion, bandit.ask().arms
        (0, (0,))
    """

    cdef int m
    cdef Thompson posterior
    cdef double *gains  # what is left of preferences for an arm, less than 1,
    cdef double *pains  # and of those against it

    def __init__(self, n_arms, *, arms_per_duel=4, seed=None):
        super().__init__(n_arms, seed=seed, arms_per_duel=whole("arms_per_duel", arms_per_duel, minimum=2, maximum=MAX_ARMS_PER_DUEL))
        self.m = arms_per_duel
        self.posterior = Thompson(self.n_arms)
        self._adopt("", self.posterior)
        self.gains = <double *>self.array("gains", self.n_arms, np.float64)
        self.pains = <double *>self.array("pains", self.n_arms, np.float64)

    cdef int choose(self, multi_duel_t *duel) except -1 nogil:
        cdef int draw, arm, x
        duel.n = 0
        for draw in range(self.m):
            arm = self.posterior.draw(self.rng)
            for x in range(duel.n):
                if duel.arms[x] == arm:
                    break
            else:
                duel.arms[duel.n] = arm
                duel.n += 1
        return 0

    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil:
        cdef int x, y, arm
        for x in range(duel.n):
            arm = duel.arms[x]
            for y in range(duel.n):
                self.gains[arm] += won(preferences[<size_t>x * duel.n + y])
                self.pains[arm] += won(preferences[<size_t>y * duel.n + x])
            while self.gains[arm] >= 1:
                self.gains[arm] -= 1
                self.posterior.learn(arm, True)
            while self.pains[arm] >= 1:
                self.pains[arm] -= 1
                self.posterior.learn(arm, False)
        return 0

    def _snapshot_rules(self, stored):
        yield from MultiBandit._snapshot_rules(self, stored)
        yield "gains", self._arrays["gains"], Values(0, 1)
        yield "pains", self._arrays["pains"], Values(0, 1)

    @property
    def champion(self):
        """The arm with the highest posterior mean."""
        return int(self.posterior.means.argmax())
