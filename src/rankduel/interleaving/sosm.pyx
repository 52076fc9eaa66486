"""SOSM: Sample-Only Scored Multileaving (Brost et al. 2016)."""

import numpy as np

from rankduel.interleaving.multileaving cimport MultiImpression
from rankduel.interleaving.team_draft_multileaving cimport TeamDraftMultileaving
from rankduel.interleaving.multileaving import positive


cdef class SOSM(TeamDraftMultileaving):
    """Builds the list like Team Draft, and credits each click to all rankers by their ranks of the document.

    Each ranker ranks the documents of the list, without all others. A click on a document of rank rho scores rho^-tau.
    The preference of x over y is the sign of the difference of their sums. So every click counts for every ranker,
    however many there are. If all documents are clicked, all rankers tie. The method is biased: clicks that depend on
    the position but not on relevance favour some rankers.

    Sums that differ by at most 1e-12 tie. With up to ten places and tau = 3, this is exact.

    Evidence of a document: the rank that each ranker gives it among those shown, from 1.

    Brost, Cox, Seldin, Lioma: An improved multileaving algorithm for online ranker evaluation. SIGIR 2016.

    >>> from rankduel.interleaving import SOSM
    >>> method = SOSM()
    >>> shown = method.multileave([["a", "b", "c", "d"], ["b", "c", "d", "a"], ["d", "c", "b", "a"]], k=3, seed=1)
    >>> shown.documents
    ('b', 'a', 'd')
    >>> method.scores(shown, clicks=["b"]).round(3)
    array([0.125, 1.   , 0.125])
    >>> method.preferences(shown, clicks=["b"])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  1.],
           [ 0., -1.,  0.]])
    """

    cdef double tau

    def __init__(self, tau=3.0):
        self.tau = positive("tau", tau)
        self._parameters = {"tau": self.tau}
        self.whole = True

    cdef int width_of(self, int n_rankers) noexcept nogil:
        return n_rankers

    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil:
        shown.rank_shown(0, all)
        return 0

    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil:
        cdef int r, i
        cdef double *ranks
        shown.weigh(self.tau, shown.n)
        for r in range(shown.n_rankers):
            scores[r] = 0
        for i in range(shown.n):
            if shown.clicked[i]:
                ranks = shown.rows + <size_t>i * shown.width
                for r in range(shown.n_rankers):
                    scores[r] += shown.weights[<int>ranks[r] - 1]
        return 0

    def _limits(self, n, n_rankers):
        return np.ones(n_rankers), np.full(n_rankers, n)
