"""MergeRUCB (Zoghi, Whiteson, de Rijke 2015)."""

import numpy as np

from libc.math cimport log, sqrt

from rankduel.bandits.families.merging cimport Merging, batch_t
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.randomness.draws cimport below, best_t, consider

cdef struct bound_t:
    double wins
    double mean  # w_ij / n_ij
    double width  # 1 / sqrt(n_ij), -1 if the two arms have not met


cdef class MergeRUCB(Merging):
    """Find the Condorcet winner of hundreds of arms with upper confidence bounds in small batches.

    Idea
        Use it when you want to compare your results with MergeDTS or with earlier papers. The batches, elimination and
        merging are the same as in MergeDTS. The duels differ: the first arm is drawn uniformly from the batch, and it
        meets the arm with the highest upper confidence bound on the probability to beat it.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0. The tuned value of the MergeDTS paper is 0.8^6. The theorem needs > 0.5.
        batch_size: M, at least 2. The tuned value is 8. The theorem needs at least 4.
        c: C, > 0, added to the time in the bounds. The tuned value is 4e5. `theoretical` computes the value of the
            theorem.
        elimination: None or `Hoeffding(alpha, c)` is the rule of the paper. Set it to `Certified(delta)` if you need a
            guarantee that does not depend on the other parameters.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(M) time per duel, O(K M) memory.

    Guarantee
        With the parameters of `theoretical`, regret is O(M K log(T) / gap^2) with probability 1 - 1/T. A Condorcet
        winner must exist, and at most a third of the arms may be uninformative. The tuned parameters have no guarantee.

    References
        Zoghi, Whiteson, de Rijke: MergeRUCB: a method for large-scale online ranker evaluation. WSDM 2015.

    Deviations
        Those of MergeDTS: arms are shuffled before they are dealt, elimination and merging happen when you tell the
        outcome, and the smallest batch joins the largest while their sum is at most 3M/2.

    Examples
        >>> import rankduel as rd
        >>> run = rd.simulate(rd.MergeRUCB(20, seed=1), rd.problems.cycle2(), horizon=1_000_000)
        >>> run.winner
        0
    """

    def __init__(self, n_arms, *, alpha=0.8**6, batch_size=8, c=4e5, elimination=None, seed=None):
        self.record_size = sizeof(bound_t)
        super().__init__(n_arms, alpha=alpha, batch_size=batch_size, c=c, elimination=elimination, seed=seed)

    cdef int choose_in(self, const batch_t *batch, int *first, int *second) except -1 nogil:
        cdef int c = below(self.rng, batch.size), j
        cdef double width = sqrt(self.alpha * log(self.told + 1 + self.c)), bound
        cdef const bound_t *jc
        cdef best_t best
        best.value, best.index, best.ties = -1, -1, 0
        for j in range(batch.size):  # d = argmax u_jc, ties broken at random
            if j != c:
                jc = self.bound(batch, j, c)
                bound = jc.mean + width * jc.width if jc.width > 0 else 2  # x/0 := 1, in both terms
                consider(self.rng, &best, bound, j)
        first[0], second[0] = c, best.index
        return 0

    def _batch_rules(self, records):
        """Rules for the records: means and widths follow from the wins."""
        wins, mean, width = np.moveaxis(records, 2, 0)
        yield "pairs", wins, Values(0, MAX_DUELS, whole=True)
        yield "pairs", wins.diagonal(), Equal(0)
        n = wins + wins.T
        met, n = n > 0, np.maximum(n, 1)
        yield "pairs", mean, Equal(np.where(met, wins / n, 1))
        yield "pairs", width, Equal(np.where(met, 1 / np.sqrt(n), -1))

    cdef double wins_of(self, const batch_t *batch, int i, int j) noexcept nogil:
        return self.bound(batch, i, j).wins

    cdef bound_t *bound(self, const batch_t *batch, int i, int j) noexcept nogil:
        return <bound_t *>batch.pairs + <size_t>i * batch.size + j

    cdef void init_record(self, void *record) noexcept nogil:
        cdef bound_t *bound = <bound_t *>record
        bound.wins, bound.mean, bound.width = 0, 1, -1

    cdef void count(self, batch_t *batch, int winner, int loser, double *wins, double *losses) noexcept nogil:
        cdef bound_t *won = self.bound(batch, winner, loser)
        cdef bound_t *lost = self.bound(batch, loser, winner)
        cdef double n
        won.wins += 1
        n = won.wins + lost.wins
        won.width = lost.width = 1 / sqrt(n)
        won.mean, lost.mean = won.wins / n, lost.wins / n
        wins[0], losses[0] = lost.wins, won.wins
