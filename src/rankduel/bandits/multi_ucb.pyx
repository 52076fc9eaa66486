"""MultiUCB: which rankers to multileave next (Li et al. 2020, their comparison with multileaving)."""

from libc.math cimport log

from rankduel.bandits.multi_bandit cimport multi_duel_t
from rankduel.bandits.families.multi_optimistic cimport MultiOptimistic

RULES = ("corrected", "released")


cdef class MultiUCB(MultiOptimistic):
    """Multileave every ranker that has not been beaten, by an upper confidence bound, by any other.

    Idea
        All candidates share one page, and its clicks say who is preferred to whom among them. The bound of a pair is
        u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij), n_ij = w_ij + w_ji; an arm i is a candidate while no u_ij is
        below 1/2. If none is left, all are.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0; the paper uses 0.51.
        rule: `corrected`, as told above, or `released`: all arms are candidates at every step. That is what the paper's
            program comes to: it asks for u_ij > 1/2 where u_ii = 1/2, so that nobody is a candidate, and falls back on
            all.
        seed: taken as by every bandit, and kept; the rule draws nothing.

    Cost
        A step over n candidates takes O(K + n^2) time; memory is O(K^2). An arm that is out stays out until the time at
        which the growing log t lets it in again, which is known when it goes.

    Guarantee
        None is known.

    References
        Li, Markov, de Rijke, Zoghi: MergeDTS: A method for effective large-scale online ranker evaluation. ACM
        Transactions on Information Systems 38(4), 2020, the experiment with Sample-Only Scored Multileaving.

    Deviations
        Counts start at 0, and a pair that was never decided keeps nobody out; the paper's program starts its wins at 1,
        and its number of plays stays at 2. The paper's bound has log(t + C) with a C that the experiment does not name;
        here it is log t. The program's fallback draws 100 arms with replacement; `released` takes each arm once, as the
        text says. A preference counts by its size, at most 1, where the program counts signs; those of SOSM and Team Draft
        are signs. As in the program, a tie adds nothing to either side.

    Examples
        >>> import numpy as np
        >>> import rankduel as rd
        >>> bandit = rd.MultiUCB(3)
        >>> for _ in range(20):
        ...     duel = bandit.ask()
        ...     arms = np.array(duel.arms)
        ...     bandit.tell(duel, np.sign(arms[None, :] - arms[:, None]))  # the lower number is always preferred
        >>> bandit.ask().arms, bandit.champion
        ((0,), 0)
    """

    cdef bint everyone  # the released rule

    def __init__(self, n_arms, *, alpha=0.51, rule="corrected", seed=None):
        if rule not in RULES:
            raise ValueError(f"rule must be {' or '.join(RULES)}, got {rule!r}")
        super().__init__(n_arms, alpha=alpha, rule=rule, seed=seed)
        self.everyone = rule == "released"

    cdef int choose(self, multi_duel_t *duel) except -1 nogil:
        duel.n = 0 if self.everyone else self.unbeaten(self.alpha * log(self.told + 1), duel.arms)
        if duel.n == 0:
            duel.n = self.everybody(duel.arms)
        return 0
