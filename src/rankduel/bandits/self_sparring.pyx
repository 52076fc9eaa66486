"""SelfSparring: Self-Sparring with two arms per duel (Sui et al. 2017)."""

from rankduel.bandits.base cimport FIRST, TIE, duel_t, outcome_t
from rankduel.bandits.families.eliminating cimport Eliminating
from rankduel.bandits.kernels.thompson_skipping cimport SkippingThompson
from rankduel.bandits.kernels.thompson cimport Thompson


cdef class SelfSparring(Eliminating):
    """Find the arm that wins the most against the others (the Borda winner) by Thompson sampling.

    Idea
        Use it when you have many arms, no cycles in the preferences, and want low regret at low cost. Each arm has one
        posterior, of its probability to win a duel. Draw from all posteriors and take the best arm. Do it again, and
        let the two arms meet. Over time, good arms meet good arms more and more often.

    Parameters
        n_arms: K, at least 1.
        elimination: None is the published algorithm, which eliminates no arm. Set it to `Certified(delta)` if you want
            arms to be eliminated with a guarantee. Then no arm meets itself.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        About O(log K) time per duel. A draw finds the few arms above a level in a tree of rates. It takes O(K) time
        when the level is moved, and in about one draw of K, when no arm is above the level. O(K) memory.

    Guarantee
        Regret O(K log T) asymptotically, under approximate linearity. With cyclic preferences it can converge to an arm
        that is not the Condorcet winner.

    References
        Sui, Zhuang, Burdick, Yue: Multi-dueling bandits with dependent arms. UAI 2017, Algorithm 2, with m = 2.

    Deviations
        None in distribution. A duel of an arm with itself adds a win and a loss, as in the paper.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.SelfSparring(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef Thompson arms

    def __init__(self, n_arms, *, elimination=None, seed=None):
        super().__init__(n_arms, elimination=elimination, seed=seed)
        self.arms = SkippingThompson(self.n_arms) if self.certificate is None else Thompson(self.n_arms, spare=True)
        self._adopt("", self.arms)

    cdef int choose(self, duel_t *duel) except -1 nogil:
        if self.certificate is None:
            duel.first = self.arms.draw(self.rng)
            duel.second = self.arms.draw(self.rng)
            return 0
        duel.first = duel.second = self.arms.draw(self.rng)
        if self.n_alive > 1:
            duel.second = self.arms.draw_but(self.rng, duel.first)
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        if outcome == TIE or self.is_out(winner) or self.is_out(loser):
            return 0
        if winner == loser:  # a win and a loss
            self.arms.learn_self(winner)
            return 0
        self.arms.learn(winner, True)
        self.arms.learn(loser, False)
        if self.rules_out(winner, loser):
            self.arms.remove(loser)
        return 0

    @property
    def champion(self):
        """The arm with the highest posterior mean among those left."""
        alive = self.alive
        return int(alive[self.arms.means[alive].argmax()])
