"""Team Draft Multileaving (Schuth et al. 2014)."""

import numpy as np

from numpy.random cimport bitgen_t

from rankduel.interleaving.multileaving cimport (
    NOBODY,
    MultiImpression,
    ScoredMultileaving,
    best_unmarked,
)
from rankduel.randomness.draws cimport below
from rankduel.rankings.ranked cimport ranked_t, ties_t


cdef class TeamDraftMultileaving(ScoredMultileaving):
    """Rankers take turns, in a new random order each round, and add their best unused document.

    The score of a ranker is the number of clicks on its own picks. The preference of x over y is the sign of the
    difference of their scores. The documents with which all rankings begin, in the same order, are nobody's pick. A
    ranker without unused documents is skipped. Otherwise, the numbers of picks differ by at most one. On a page of k
    places, at most k rankers have picks, so with many more rankers most comparisons are ties.

    Evidence of a document: the ranker that picked it, or -1.

    Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved comparisons for fast online evaluation. CIKM 2014.

    >>> from rankduel.interleaving import TeamDraftMultileaving
    >>> method = TeamDraftMultileaving()
    >>> shown = method.multileave([["a", "b", "c"], ["a", "c", "b"], ["a", "b", "d"]], k=3, seed=2)
    >>> shown.documents, [team for team, in shown.evidence]
    (('a', 'b', 'c'), [-1, 0, 1])
    >>> method.preferences(shown, clicks=["c"])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  1.],
           [ 0., -1.,  0.]])
    """

    def __init__(self):
        super().__init__()

    cdef int width_of(self, int n_rankers) noexcept nogil:
        return 1

    cdef int begin(
        self, MultiImpression shown, bitgen_t *rng, const ranked_t *rankers, int n_rankers, ties_t ties
    ) except -1 nogil:
        cdef int r
        ScoredMultileaving.begin(self, shown, rng, rankers, n_rankers, ties)
        for r in range(n_rankers):
            shown.turns[r] = r
        shown.n_turns = shown.n_active = n_rankers
        shown.common = True
        return 0

    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil:
        cdef int turn, r, document
        if shown.n == shown.k:
            return -1
        if shown.common:
            document = all_agree(shown)
            shown.common = document >= 0
            if shown.common:
                shown.teams[shown.n] = NOBODY
                shown.show(document)
                return document
        while shown.n_active > 0:
            if shown.n_turns == 0:  # a new round
                shown.n_turns = shown.n_active
            shown.n_turns -= 1
            turn = below(rng, shown.n_turns + 1)
            r, shown.turns[turn] = shown.turns[turn], shown.turns[shown.n_turns]
            shown.turns[shown.n_turns] = r
            document = best_unmarked(shown, r)
            if document >= 0:
                shown.teams[shown.n] = r
                shown.show(document)
                return document
            shown.n_active -= 1
            shown.turns[shown.n_turns], shown.turns[shown.n_active] = shown.turns[shown.n_active], r
        return -1

    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil:
        cdef int i
        for i in range(shown.n):
            shown.rows[i] = shown.teams[i]
        return 0

    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil:
        cdef int r, i
        for r in range(shown.n_rankers):
            scores[r] = 0
        for i in range(shown.n):
            if shown.clicked[i] and shown.rows[i] != NOBODY:
                scores[<int>shown.rows[i]] += 1
        return 0

    def _limits(self, n, n_rankers):
        return np.array([-1]), np.array([n_rankers - 1])


cdef int all_agree(MultiImpression shown) noexcept nogil:
    """The document that every ranker would add, or -1."""
    cdef int document = best_unmarked(shown, 0), r
    for r in range(1, shown.n_rankers):
        if document < 0 or best_unmarked(shown, r) != document:
            return -1
    return document
