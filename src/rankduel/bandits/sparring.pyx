"""Sparring (Ailon, Karnin, Joachims 2014): two ordinary multi-armed bandits play against each other."""

import numpy as np

from libc.math cimport fmax, fmin, log, sqrt
from libc.stdint cimport int64_t

from rankduel.bandits.base cimport FIRST, SECOND, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.parameters import number
from rankduel.bandits.snapshot_checks import MAX_DUELS, Values
from rankduel.bandits.kernels.thompson cimport Thompson
from rankduel.bandits.kernels.tsallis cimport Tsallis
from rankduel.bandits.kernels.exp_weights cimport Weights
from rankduel.randomness.draws cimport best_t, consider


cdef class Sparring(Bandit):
    """Base of the four: one side picks the first arm, the other the second. The side of the winner gets reward 1."""

    cdef int choose(self, duel_t *duel) except -1 nogil:
        duel.first = self.pick(0, duel.number, &duel.first_propensity)
        duel.second = self.pick(1, duel.number, &duel.second_propensity)
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        if outcome != TIE:
            self.reward(0, duel.number, duel.first, outcome == FIRST, duel.first_propensity)
            self.reward(1, duel.number, duel.second, outcome == SECOND, duel.second_propensity)
        return 0

    cdef int pick(self, int side, int64_t t, double *propensity) noexcept nogil:
        return 0

    cdef void reward(self, int side, int64_t t, int arm, bint won, double propensity) noexcept nogil:
        pass


cdef class SparringUCB1(Sparring):
    """Let two UCB1 bandits play each other. Each picks the arm with the highest upper confidence bound on its win rate.

    Idea
        Use it as a simple baseline in your experiments. Two ordinary multi-armed bandits play against each other: one
        picks the first arm, the other the second. The reward of a side is 1 if its arm wins, else 0. As both sides
        improve, so do the duels.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The bound is mean + sqrt(alpha ln t / n). UCB1 has alpha = 2.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K) time per duel, O(K) memory.

    Guarantee
        None known. The rewards of one side change as the other side learns.

    References
        Ailon, Karnin, Joachims: Reducing dueling bandits to cardinal bandits. ICML 2014, Algorithm Sparring.
        Auer, Cesa-Bianchi, Fischer: Finite-time analysis of the multiarmed bandit problem. 2002, UCB1.

    Deviations
        A duel of an arm with itself rewards one of the sides, like any other duel. After a tie, neither side learns.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.SparringUCB1(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef double alpha
    cdef double *wins  # wins[side, arm]
    cdef double *plays

    def __init__(self, n_arms, *, alpha=2.0, seed=None):
        super().__init__(n_arms, seed=seed, alpha=number("alpha", alpha))
        self.alpha = alpha
        self.wins = <double *>self.array("wins", (2, self.n_arms), np.float64)
        self.plays = <double *>self.array("plays", (2, self.n_arms), np.float64)

    cdef int pick(self, int side, int64_t t, double *propensity) noexcept nogil:
        cdef const double *wins = self.wins + <size_t>side * self.n_arms
        cdef const double *plays = self.plays + <size_t>side * self.n_arms
        cdef double width = self.alpha * log(self.told + 1), bound
        cdef int arm
        cdef best_t best
        best.value, best.index, best.ties = -1, 0, 0
        for arm in range(self.n_arms):
            bound = wins[arm] / plays[arm] + sqrt(width / plays[arm]) if plays[arm] > 0 else 1e300
            consider(self.rng, &best, bound, arm)
        return best.index

    cdef void reward(self, int side, int64_t t, int arm, bint won, double propensity) noexcept nogil:
        self.wins[<size_t>side * self.n_arms + arm] += won
        self.plays[<size_t>side * self.n_arms + arm] += 1

    def _snapshot_rules(self, stored):
        yield from Bandit._snapshot_rules(self, stored)
        yield "plays", self._arrays["plays"], Values(0, MAX_DUELS, whole=True)
        yield "wins", self._arrays["wins"], Values(0, self._arrays["plays"], whole=True)

    @property
    def champion(self):
        """The arm that both sides together have played most often."""
        return int(self._arrays["plays"].sum(0).argmax())


cdef class SparringThompson(Sparring):
    """Let two Thompson samplers play each other. Each draws the win rates of its arms and picks the largest.

    Idea
        Use it when you want Sparring at low cost per duel with many arms. It works as SparringUCB1, but each side has a
        Beta posterior of the win rate of each arm, which starts at Beta(1, 1).

    Parameters
        n_arms: K, at least 1.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        About O(log K) time per duel. A draw finds the few arms above a level in a tree of rates. It takes O(K) time
        when the level is moved, and in about one draw of K, when no arm is above the level. O(K) memory.

    Guarantee
        None known.

    References
        Ailon, Karnin, Joachims: Reducing dueling bandits to cardinal bandits. ICML 2014, Algorithm Sparring.

    Deviations
        None in distribution. A duel of an arm with itself rewards one of the sides, like any other duel. After a tie,
        neither side learns.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.SparringThompson(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef Thompson first, second

    def __init__(self, n_arms, *, seed=None):
        super().__init__(n_arms, seed=seed)
        self.first, self.second = Thompson(self.n_arms), Thompson(self.n_arms)
        self._adopt("first_", self.first)
        self._adopt("second_", self.second)

    cdef int pick(self, int side, int64_t t, double *propensity) noexcept nogil:
        return self.first.draw(self.rng) if side == 0 else self.second.draw(self.rng)

    cdef void reward(self, int side, int64_t t, int arm, bint won, double propensity) noexcept nogil:
        if side == 0:
            self.first.learn(arm, won)
        else:
            self.second.learn(arm, won)

    @property
    def champion(self):
        """The arm with the highest sum of both sides' posterior means."""
        return int((self.first.means + self.second.means).argmax())


cdef class SparringEXP3(Sparring):
    """Let two EXP3 bandits play each other. Regret is low against any adversary.

    Idea
        Use it when your users' preferences may change, or when no single arm beats all others. It works as
        SparringUCB1, but each side has exponential weights. Only the side of the winner updates: the weight of its arm
        grows, by a step divided by the probability with which the arm was drawn. If preferences do not change, the
        average play approaches a von Neumann winner.

    Parameters
        n_arms: K, at least 1.
        gamma: share of uniform exploration, in (0, 1]. None is the adaptive choice
            min(1, sqrt(K ln K / ((e - 1) max(t, 10,000)))).
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(log K) time per duel, O(K) memory.

    Guarantee
        Regret O(sqrt(T K ln K)) against the von Neumann winner, with a fixed horizon and the gamma for it.

    References
        Ailon, Karnin, Joachims: Reducing dueling bandits to cardinal bandits. ICML 2014, Algorithm Sparring.
        Auer, Cesa-Bianchi, Freund, Schapire: The nonstochastic multiarmed bandit problem. 2002, EXP3.

    Deviations
        A duel of an arm with itself rewards one of the sides, like any other duel. After a tie, neither side learns.

    Examples
        >>> import rankduel as rd
        >>> rd.SparringEXP3(20, seed=1).ask().propensity
        (0.05, 0.05)
    """

    cdef Weights first, second
    cdef double gamma  # 0: adaptive

    def __init__(self, n_arms, *, gamma=None, seed=None):
        gamma = gamma if gamma is None else number("gamma", gamma, at_most=1)
        super().__init__(n_arms, seed=seed, gamma=gamma)
        self.gamma = gamma or 0
        self.first, self.second = Weights(self.n_arms), Weights(self.n_arms)
        self._adopt("first_", self.first)
        self._adopt("second_", self.second)

    cdef double exploration(self, int64_t t) noexcept nogil:
        if self.gamma > 0:
            return self.gamma
        return fmin(1, sqrt(self.n_arms * log(self.n_arms) / (1.718281828459045 * fmax(t, 10_000))))

    cdef int pick(self, int side, int64_t t, double *propensity) noexcept nogil:
        if side == 0:
            return self.first.draw(self.rng, self.exploration(t), propensity)
        return self.second.draw(self.rng, self.exploration(t), propensity)

    cdef void reward(self, int side, int64_t t, int arm, bint won, double propensity) noexcept nogil:
        cdef double step = self.exploration(t) / (self.n_arms * propensity)
        if won and side == 0:
            self.first.multiply(arm, step)
        elif won:
            self.second.multiply(arm, step)

    @property
    def champion(self):
        """The arm with the largest product of both sides' weights."""
        return int((self._arrays["first_logs"] + self._arrays["second_logs"]).argmax())


cdef class SparringTsallisINF(Sparring):
    """Let two Tsallis-INF bandits play each other. Regret is O(log T) with a Condorcet winner and O(sqrt(T)) always.

    Idea
        Use it when you do not know whether your users' preferences change. It works as SparringUCB1, but each side
        draws arm i with probability w_i = 4 / (eta_t (L_i - x))^2. L_i is the sum of the losses of arm i, each divided
        by the probability with which the arm was drawn. x makes the weights sum to 1, and eta_t = 2 / sqrt(t). The
        weight of a bad arm falls with the square of its loss, not exponentially. So you need neither extra exploration
        nor the horizon.

    Parameters
        n_arms: K, at least 1.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(K) time per duel. Newton's method finds x, starting from its last value. O(K) memory.

    Guarantee
        Regret O(sqrt(K T)) against the von Neumann winner, even if an adversary chooses the preferences. Regret
        O(sum_i log T / Delta_i) if preferences do not change and there is a Condorcet winner.

    References
        Ailon, Karnin, Joachims: Reducing dueling bandits to cardinal bandits. ICML 2014, Algorithm Sparring.
        Zimmert, Seldin: Tsallis-INF: An optimal algorithm for stochastic and adversarial bandits. JMLR 22, 2021, with
        importance-weighted losses.
        Saha, Gaillard: Versatile dueling bandits: Best-of-both-world analyses for learning from relative preferences.
        ICML 2022.

    Deviations
        t is the number of the duel. A duel of an arm with itself is a loss for one of the sides, like any other duel. A
        tie is a loss for neither side.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.SparringTsallisINF(20, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=100_000)
        >>> bandit.champion
        0
    """

    cdef Tsallis first, second

    def __init__(self, n_arms, *, seed=None):
        super().__init__(n_arms, seed=seed)
        self.first, self.second = Tsallis(self.n_arms), Tsallis(self.n_arms)
        self._adopt("first_", self.first)
        self._adopt("second_", self.second)

    cdef int pick(self, int side, int64_t t, double *propensity) noexcept nogil:
        return self.first.draw(self.rng, t, propensity) if side == 0 else self.second.draw(self.rng, t, propensity)

    cdef void reward(self, int side, int64_t t, int arm, bint won, double propensity) noexcept nogil:
        if not won and side == 0:
            self.first.add(arm, 1 / propensity)
        elif not won:
            self.second.add(arm, 1 / propensity)

    @property
    def champion(self):
        """The arm with the smallest sum of both sides' losses."""
        return int((self._arrays["first_losses"] + self._arrays["second_losses"]).argmin())
