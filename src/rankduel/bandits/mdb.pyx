"""MDB: Multi-Dueling Bandits (Brost et al. 2016)."""

from libc.math cimport log

from rankduel.bandits.multi_bandit cimport multi_duel_t
from rankduel.bandits.families.multi_optimistic cimport MultiOptimistic
from rankduel.bandits.parameters import number


cdef class MDB(MultiOptimistic):
    """Show the Condorcet winner alone once narrow bounds know only one; till then multileave all that wide bounds allow.

    Idea
        Two upper confidence bounds of each pair, w_ij / n_ij + sqrt(alpha log t / n_ij) and the wider
        w_ij / n_ij + sqrt(beta alpha log t / n_ij). If just one arm has no narrow bound below 1/2, it is played on its
        own. Else all arms that have no wide bound below 1/2 share the page: exploring is done by many at once, as cheap
        as by few, and the one step that is meant to exploit does only that.

    Parameters
        n_arms: K, at least 1.
        alpha: of the narrow bounds, > 0; the theory of such bounds needs > 0.5.
        beta: how much wider the others are, at least 1.
        seed: taken as by every bandit, and kept; the rule draws nothing.

    Cost
        A step over n arms takes O(K + n^2) time; memory is O(K^2). An arm passes both bounds or is out by the same
        number, the width that would let it pass, which is kept.

    Guarantee
        None known.

    References
        Brost, Seldin, Cox, Lioma: Multi-dueling bandits and their application to online ranker evaluation. CIKM 2016,
        Algorithm 1.

    Deviations
        A pair that was never decided keeps nobody out, and if the wide bounds leave nobody, all arms are played. A
        preference counts by its size, at most 1; those of SOSM and Team Draft are signs. A tie adds nothing to either
        side.

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
