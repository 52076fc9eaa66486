"""The compiled part of `SearchWorld`: users search, see an interleaved list, and click."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from numpy.random.c_distributions cimport random_interval

from rankduel.bandits.base cimport FIRST, SECOND, TIE, duel_t
from rankduel.simulation.searching cimport Searching

cnp.import_array()


cdef class Users(World):
    """A duel is a search: a random query, the interleaved list of two rankers, and the clicks that decide the outcome.

    Clicks@k counts the clicks. NDCG@k rates the list shown: the sum of the gains (2^grade - 1) / log2(position + 1),
    divided by the sum for the best possible list of the query. It is 0 if no document is relevant.
    """

    def __init__(self, problem, seed):
        super().__init__(problem.n_arms, seed)
        self.measured = True
        self.searching = Searching(
            problem.collection, problem.interleaving, problem.clicks, problem.k, problem.ties
        )
        ideal = np.ascontiguousarray(problem.collection.ideal_dcg(problem.k))
        discount = 1 / np.log2(np.arange(2.0, problem.k + 2))
        self._kept = ideal, discount
        self.ideal = <const double *>cnp.PyArray_DATA(ideal)
        self.discount = <const double *>cnp.PyArray_DATA(discount)
        for grade in range(31):
            self.gain[grade] = 2.0**grade - 1

    cdef int64_t arrive(self) noexcept nogil:
        """Draw the query of the next user."""
        return random_interval(self.rng, self.searching.n_queries - 1)

    cdef int play(self, const duel_t *duel) except -1 nogil:
        cdef int64_t query = self.arrive()
        cdef double credit = self.searching.duel(self.rng, query, duel.first, duel.second, True)
        self.measure(query, self.searching.shown.documents, self.searching.shown.clicked, self.searching.shown.n)
        return FIRST if credit > 0 else SECOND if credit < 0 else TIE

    cdef void measure(self, int64_t query, const int *documents, const uint8_t *clicked, int n) noexcept nogil:
        """Add the clicks and the NDCG of a list."""
        cdef const uint8_t *grades = &self.searching.grades[self.searching.offsets[query]]
        cdef double dcg = 0
        cdef int position
        for position in range(n):
            self.clicks += clicked[position]
            dcg += self.discount[position] * self.gain[grades[documents[position]]]
        if dcg > 0:
            self.ndcg += dcg / self.ideal[query]

    def measures(self):
        """The sums of clicks@k and NDCG@k over all lists shown so far."""
        return {f"clicks@{self.searching.k}": self.clicks, f"ndcg@{self.searching.k}": self.ndcg}
