"""MultiSelfSparring: Self-Sparring with many arms per duel (Sui et al. 2017)."""

import numpy as np

from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t, won
from rankduel.bandits.parameters import whole
from rankduel.bandits.snapshot_checks import Values
from rankduel.bandits.kernels.thompson cimport Thompson

MAX_ARMS_PER_DUEL = 10_000  # more than any page shows


cdef class MultiSelfSparring(MultiBandit):
    """Find the arm that is preferred most often (the Borda winner) by multileaving the best arms of m Thompson draws.

    Idea
        Use it when you multileave many arms and want a simple, fast bandit. As in SelfSparring, each arm has one
        posterior, of its probability to be preferred to an opponent. Draw from all posteriors m times, and take the
        best arm each time. These arms share the page, and each preference is a win of one arm and a loss of another. As
        the posteriors narrow, more and more draws give the same arm, until the page shows it alone.

    Parameters
        n_arms: K, at least 1.
        arms_per_duel: m, the number of draws, at least 2. A page shows at most m arms.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        About O(m log K) time to choose and O(m^2) to learn. A draw finds the few arms above a level in a tree of rates.
        It takes O(K) time when the level is moved, and in about one draw of K, when no arm is above the level. O(K)
        memory.

    Guarantee
        Regret O(K log T) asymptotically, under approximate linearity and for independent preferences. The preferences
        of one page are not independent, so the posteriors are too narrow, and more so for larger m.

    References
        Sui, Zhuang, Burdick, Yue: Multi-dueling bandits with dependent arms. UAI 2017, Algorithm 2.

    Deviations
        An arm that is drawn several times is on the page once, and its wins and losses against itself are not counted.
        Preferences count by their size, at most 1. An arm gets a win whenever the preferences for it have summed to 1,
        and a loss whenever those against it have. The preferences of SOSM and Team Draft are signs, and so count as
        whole wins.

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
    cdef double *gains  # sum of the preferences for an arm that is not counted as a win yet, below 1
    cdef double *pains  # sum of the preferences against an arm that is not counted as a loss yet, below 1

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
