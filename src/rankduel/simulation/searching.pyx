"""One simulated search: interleave the lists of two rankers, let a user click, credit the clicks to a ranker."""

import numpy as np

cimport numpy as cnp

from rankduel.clicks.base cimport CLICKED, LEFT
from rankduel.interleaving import TeamDraftInterleaving
from rankduel.rankings.ranked cimport CONSISTENT, FILE, REDRAW

cnp.import_array()

TIES = {"file": <int>FILE, "consistent": <int>CONSISTENT, "redraw": <int>REDRAW}


cdef class Searching:
    """The parts of a search, as a kernel needs them. It holds the current list, so each thread needs its own."""

    def __init__(self, collection, interleaving, clicks, k, ties):
        self.n_rankers, self.n_queries, self.k = collection.n_rankers, collection.n_queries, k
        self.own = TeamDraftInterleaving()  # interleaving a list with itself gives that list
        self.interleaving, self.user, self.ties = interleaving, clicks, TIES[ties]
        self.shown = Impression(k, int(collection.sizes.max()))
        self.wide = collection.order.dtype == np.int32
        self._kept = collection.offsets, collection.grades, collection.order, collection.start
        offsets, grades, order, start = self._kept
        self.offsets = <const int64_t *>cnp.PyArray_DATA(offsets)
        self.grades = <const uint8_t *>cnp.PyArray_DATA(grades)
        self.order = <const char *>cnp.PyArray_DATA(order)
        self.start = <const char *>cnp.PyArray_DATA(start)

    cdef void rank(self, int64_t query, int ranker, ranked_t *ranked) noexcept nogil:
        """The ranking of a query by a ranker, as a row of the tables."""
        cdef int64_t n = self.offsets[query + 1] - self.offsets[query]
        cdef size_t row = (self.n_rankers * self.offsets[query] + ranker * n) * (4 if self.wide else 2)
        ranked.order, ranked.start = self.order + row, self.start + row
        ranked.n, ranked.wide = <int>n, self.wide

    cdef double duel(self, bitgen_t *rng, int64_t query, int first, int second, bint whole) except? -2 nogil:
        """Play one duel and return the credit: positive if the first ranker wins, negative if the second, 0 for a tie.

        The list is built while the user reads it, and ends where the user leaves, unless you ask for the `whole` list.
        A ranker that meets itself shows its own list.
        """
        cdef ranked_t ranked[2]
        self.rank(query, first, &ranked[0])
        self.rank(query, second, &ranked[1])
        if first == second:
            self.visit(self.own, self.shown, rng, ranked, &self.grades[self.offsets[query]], whole)
            return 0
        return self.visit(self.interleaving, self.shown, rng, ranked, &self.grades[self.offsets[query]], whole)

    cdef double visit(
        self, Interleaving method, Impression shown, bitgen_t *rng, ranked_t *ranked, const uint8_t *grades, bint whole
    ) except? -2 nogil:
        cdef int document, look = 0
        method.begin(shown, rng, &ranked[0], &ranked[1], self.ties)
        while (whole or not look & LEFT) and (document := method.place(shown, rng)) >= 0:
            if not look & LEFT:
                look = self.user.look(rng, shown.n - 1, grades[document])
                shown.clicked[shown.n - 1] = look & CLICKED
        return method.credit_of(shown, rng)
