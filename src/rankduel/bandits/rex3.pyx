"""REX3: Relative Exponential-weight algorithm for Exploration and Exploitation (Gajane et al. 2015)."""

from libc.math cimport fmax, fmin, log, sqrt
from libc.stdint cimport int64_t

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.parameters import number
from rankduel.bandits.kernels.exp_weights cimport Weights


cdef class REX3(Bandit):
    """Keep regret low against an adversary, by drawing both arms from the same exponential weights.

    Idea
        Use it when your users' preferences may change over time. As in EXP3, each arm has an exponential weight. Both
        arms of a duel are drawn from the same weights, mixed with uniform exploration. The winner's weight grows and
        the loser's weight falls. Each step is divided by the probability with which the arm was drawn.

    Parameters
        n_arms: K, at least 1.
        gamma: share of uniform exploration, in (0, 1/2]. None is the adaptive choice of the paper,
            min(1/2, sqrt(K ln K / max(t, 10,000))).
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(log K) time per duel, O(K) memory.

    Guarantee
        Regret O(sqrt(T K ln K)) against utility-based adversaries.

    References
        Gajane, Urvoy, Clerot: A relative exponential weighing algorithm for adversarial utility-based dueling bandits.
        ICML 2015, Algorithm 1.

    Deviations
        None.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.REX3(20, seed=1)
        >>> duel = bandit.ask()
        >>> duel.propensity  # probability of each arm, stored with the duel because the outcome may come late
        (0.05, 0.05)
    """

    cdef Weights weights
    cdef double gamma  # 0: adaptive

    def __init__(self, n_arms, *, gamma=None, seed=None):
        gamma = gamma if gamma is None else number("gamma", gamma, at_most=0.5)
        super().__init__(n_arms, seed=seed, gamma=gamma)
        self.gamma = gamma or 0
        self.weights = Weights(self.n_arms)
        self._adopt("", self.weights)

    cdef double exploration(self, int64_t t) noexcept nogil:
        if self.gamma > 0:
            return self.gamma
        return fmin(0.5, sqrt(self.n_arms * log(self.n_arms) / fmax(t, 10_000)))

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef double gamma = self.exploration(duel.number)
        duel.first = self.weights.draw(self.rng, gamma, &duel.first_propensity)
        duel.second = self.weights.draw(self.rng, gamma, &duel.second_propensity)
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef double step = self.exploration(duel.number) / (2 * self.n_arms)
        if outcome != TIE and duel.first != duel.second:
            if outcome != FIRST:
                step = -step
            self.weights.multiply(duel.first, step / duel.first_propensity)
            self.weights.multiply(duel.second, -step / duel.second_propensity)
        return 0

    @property
    def champion(self):
        """The arm with the largest weight."""
        return int(self.weights.arrays["logs"].argmax())
