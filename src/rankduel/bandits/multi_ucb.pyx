"""MultiUCB: multileave all unbeaten rankers (Li et al. 2020, the comparison with multileaving)."""

from libc.math cimport log

from rankduel.bandits.multi_bandit cimport multi_duel_t
from rankduel.bandits.families.multi_optimistic cimport MultiOptimistic

RULES = ("corrected", "released")


cdef class MultiUCB(MultiOptimistic):
    """Multileave every ranker that no other ranker beats by its upper confidence bound.

    Idea
        Use it when you multileave and want to repeat the comparison in the MergeDTS paper. All candidates share one
        page, and its clicks give the preferences between them. The bound of a pair is
        u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij) with n_ij = w_ij + w_ji. Arm i is a candidate if no u_ij is below
        1/2. If there is no candidate, all arms are candidates.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The paper uses 0.51.
        rule: `corrected` is the rule above. With `released`, all arms are candidates in every duel. This is the effect
            of the paper's released program: it requires u_ij > 1/2 for all j, including u_ii = 1/2, so no arm is a
            candidate and it falls back to all arms.
        seed: the seed of the bandit's random streams. This rule draws no random numbers.

    Cost
        A duel of n candidates takes O(K + n^2) time, and memory is O(K^2). An excluded arm stays excluded until log t
        has grown enough to admit it again. This time is known when the arm is excluded.

    Guarantee
        None known.

    References
        Li, Markov, de Rijke, Zoghi: MergeDTS: A method for effective large-scale online ranker evaluation. ACM
        Transactions on Information Systems 38(4), 2020, the experiment with Sample-Only Scored Multileaving.

    Deviations
        Counts start at 0, and a pair that was never decided excludes no arm. The paper's program starts its wins at 1,
        and its number of plays stays at 2. The paper's bound has log(t + C) with a C that the experiment does not name.
        Here it is log t. The program's fallback draws 100 arms with replacement. `released` takes each arm once, as the
        text of the paper says. A preference counts by its size, at most 1, and the program counts its sign. This makes
        no difference for SOSM and Team Draft, whose preferences are signs. As in the program, a tie adds nothing to
        either side.

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
