"""Pairwise Preference Multileaving (Oosterhuis and de Rijke 2017)."""

import numpy as np

from libc.math cimport fabs

from numpy.random cimport bitgen_t

from rankduel.interleaving.multileaving cimport (
    TIED,
    MultiImpression,
    ScoredMultileaving,
    marked,
    next_document,
)
from rankduel.randomness.draws cimport below
from rankduel.rankings.ranked cimport ranked_t, ties_t

cdef enum:
    TOP  # columns of the evidence: best place that any ranker gives the document, from 0
    CHOICES  # number of documents from which it was chosen
    RANKS  # first of the columns with the ranks, one per ranker


cdef class PairwisePreferenceMultileaving(ScoredMultileaving):
    """Scores each ranker by the pairs of a clicked and an unclicked document that it orders correctly.

    The document at place i, from 1, is drawn uniformly from the unused documents in the first i places of any ranker.
    A clicked document is preferred to every unclicked one, down to one place below the last click. A pair counts if
    both documents are at places where either could have been chosen. Its weight is 1 / P(both were still unused when
    either could be chosen). With these weights, clicks that do not depend on relevance favour no ranker: the expected
    scores are equal. The preference of x over y is the difference of their scores.

    With average=True, scores are divided by the number of pairs that count, as in the authors' program. These scores
    are biased.

    Evidence of a document: the best place that any ranker gives it, from 0, the number of documents from which it was
    chosen, and the rank that each ranker gives it among those shown, from 1.

    Oosterhuis, de Rijke: Sensitive and scalable online evaluation with theoretical guarantees. CIKM 2017.

    >>> from rankduel.interleaving import PairwisePreferenceMultileaving
    >>> method = PairwisePreferenceMultileaving()
    >>> shown = method.multileave([["a", "b", "c", "d"], ["b", "c", "d", "a"]], k=3, seed=1)
    >>> shown.documents, shown.evidence
    (('b', 'a', 'c'), ((0, 2, 2, 1), (0, 2, 1, 3), (1, 2, 3, 2)))
    >>> method.preferences(shown, clicks=["a"])
    array([[ 0.,  3.],
           [-3.,  0.]])
    """

    cdef readonly bint average

    def __init__(self, average=False):
        if not isinstance(average, bool):
            raise ValueError(f"average must be True or False, got {average!r}")
        self.average = average
        self.whole = True
        super().__init__(average=average)

    cdef int width_of(self, int n_rankers) noexcept nogil:
        return n_rankers + RANKS

    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil:
        cdef int i = shown.n, r, document, choice
        cdef double *row
        if i == shown.k:
            return -1
        for r in range(shown.n_rankers):  # Omega: unused documents in the first i + 1 places
            if i < shown.rankers[r].n:
                document = shown.latest[r] = next_document(shown, r, i, shown.latest[r])
                if not marked(shown, document):
                    shown.mark(document)
                    shown.pool[shown.n_pool], shown.tops[shown.n_pool] = document, i
                    shown.n_pool += 1
        if shown.n_pool == 0:
            return -1
        choice = below(rng, shown.n_pool)
        document, row = shown.pool[choice], shown.rows + <size_t>i * shown.width
        row[TOP], row[CHOICES] = shown.tops[choice], shown.n_pool
        shown.n_pool -= 1
        shown.pool[choice], shown.tops[choice] = shown.pool[shown.n_pool], shown.tops[shown.n_pool]
        shown.show(document)
        return document

    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil:
        shown.rank_shown(RANKS, True)
        return 0

    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil:
        cdef int r, better, worse, end = 0, pairs = 0
        cdef double weight
        cdef const double *high
        cdef const double *low
        for r in range(shown.n_rankers):
            scores[r] = 0
        for better in range(shown.n):
            if shown.clicked[better]:
                end = min(better + 2, shown.n)
        for better in range(end):
            if not shown.clicked[better]:
                continue
            high = shown.rows + <size_t>better * shown.width
            for worse in range(end):
                low = shown.rows + <size_t>worse * shown.width
                if shown.clicked[worse] or min(better, worse) < max(<int>high[TOP], <int>low[TOP]):
                    continue
                weight = 1 / still_to_choose(shown, <int>high[TOP], <int>low[TOP])
                pairs += 1
                for r in range(shown.n_rankers):
                    scores[r] += weight if high[RANKS + r] < low[RANKS + r] else 0
        if self.average and pairs > 0:
            for r in range(shown.n_rankers):
                scores[r] /= pairs
        return 0

    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil:
        cdef int x, y, n = shown.n_rankers
        cdef double *scores = shown.scores
        cdef double ahead
        self.points(shown, scores)
        for x in range(n):
            for y in range(n):
                ahead = scores[x] - scores[y]
                preferences[<size_t>x * n + y] = ahead if fabs(ahead) > TIED * (scores[x] + scores[y]) else 0
        return 0

    def _limits(self, n, n_rankers):
        low, high = np.ones(n_rankers + RANKS), np.full(n_rankers + RANKS, n)
        low[TOP], high[TOP], high[CHOICES] = 0, n - 1, n * n_rankers
        return low, high


cdef double still_to_choose(MultiImpression shown, int one, int other) noexcept nogil:
    """P(the document that could be chosen earlier was not chosen before the other one could be chosen too)."""
    cdef int i
    cdef double chance = 1
    for i in range(min(one, other), max(one, other)):
        chance *= 1 - 1 / shown.rows[<size_t>i * shown.width + CHOICES]
    return chance
