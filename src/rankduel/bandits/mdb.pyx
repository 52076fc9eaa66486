"""MDB: Multi-Dueling Bandits (Brost et al. 2016)."""

from libc.math cimport log

from rankduel.bandits.multi_bandit cimport multi_duel_t
from rankduel.bandits.families.multi_optimistic cimport MultiOptimistic
from rankduel.bandits.parameters import number


cdef class MDB(MultiOptimistic):
    """Multileave all arms that wide confidence bounds allow, until narrow bounds leave only one.

    Idea
        Use it when you multileave and want to compare with the paper. Each pair has two upper confidence bounds, the
        narrow w_ij / n_ij + sqrt(alpha log t / n_ij) and the wide w_ij / n_ij + sqrt(beta alpha log t / n_ij). If
        exactly one arm has no narrow bound below 1/2, it is shown alone. Otherwise all arms without a wide bound below
        1/2 share the page. So exploration compares many arms at once, and exploitation shows the best arm only.

    Parameters
        n_arms: K, at least 1.
        alpha: width of the narrow bounds, > 0. The theory of such bounds needs > 0.5.
        beta: factor from the narrow to the wide bounds (of alpha), at least 1.
        seed: the seed of the bandit's random streams. This rule draws no random numbers.

    Cost
        A duel of n arms takes O(K + n^2) time, and memory is O(K^2). For each arm, the smallest width that lets it pass
        is stored. It answers for both bounds.

    Guarantee
        None known.

    References
        Brost, Seldin, Cox, Lioma: Multi-dueling bandits and their application to online ranker evaluation. CIKM 2016,
        Algorithm 1.

    Deviations
        A pair that was never decided excludes no arm. If the wide bounds leave no arm, all arms are played. A
        preference counts by its size, at most 1. The preferences of SOSM and Team Draft are signs, and so count as
        whole wins. A tie adds nothing to either side.

    Examples
        >>> import numpy as np
        >>> import rankduel as rd
        >>> bandit = rd.MDB(3)
        >>> for _ in range(20):
        ...     duel = bandit.ask()
        ...     arms = np.array(duel.arms)
        ...     bandit.tell(duel, np.sign(arms[None, :] - arms[:, None]))  # the lower number is always preferred
        >>> bandit.ask().arms, bandit.champion
        ((0,), 0)
    """

    cdef double beta

    def __init__(self, n_arms, *, alpha=0.51, beta=1.5, seed=None):
        beta = number("beta", beta)
        if beta < 1:
            raise ValueError(f"beta must be at least 1, got {beta:g}")
        super().__init__(n_arms, alpha=alpha, beta=beta, seed=seed)
        self.beta = beta

    cdef int choose(self, multi_duel_t *duel) except -1 nogil:
        cdef double width = self.alpha * log(self.told + 1)
        duel.n = self.unbeaten(width, duel.arms)
        if duel.n != 1:
            duel.n = self.unbeaten(self.beta * width, duel.arms)
        if duel.n == 0:
            duel.n = self.everybody(duel.arms)
        return 0
