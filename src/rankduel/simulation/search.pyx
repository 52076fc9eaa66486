"""The world of `SearchWorld`: users search, see an interleaved list, and click."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from numpy.random.c_distributions cimport random_interval

from rankduel.bandits.base cimport FIRST, SECOND, TIE, duel_t
from rankduel.simulation.searching cimport Searching
from rankduel.simulation.worlds cimport World

cnp.import_array()


cdef class Users(World):
    """Each duel is a search: any query, the two rankers' lists in one, and a user, whose clicks name the winner.

    Clicks@k counts the clicks, NDCG@k judges the list shown: gain 2^grade - 1 over log2(position + 1), as a share of
    what the best list of all documents of the query would have; 0 where nothing is relevant.
    """

    cdef Searching searching
    cdef object _kept
    cdef const double *ideal
    cdef double[31] gain
    cdef double *discount
    cdef double clicks, ndcg

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
        self.discount = <double *>cnp.PyArray_DATA(discount)
        for grade in range(31):
            self.gain[grade] = 2.0**grade - 1

    cdef int play(self, const duel_t *duel) except -1 nogil:
        cdef int64_t query = random_interval(self.rng, self.searching.n_queries - 1)
        cdef double credit = self.searching.duel(self.rng, query, duel.first, duel.second, True), dcg = 0
        cdef const uint8_t *grades = &self.searching.grades[self.searching.offsets[query]]
        cdef int position
        for position in range(self.searching.shown.n):
            self.clicks += self.searching.shown.clicked[position]
            dcg += self.discount[position] * self.gain[grades[self.searching.shown.documents[position]]]
        if dcg > 0:
            self.ndcg += dcg / self.ideal[query]
        return FIRST if credit > 0 else SECOND if credit < 0 else TIE

    def measures(self):
        """Clicks@k and NDCG@k, summed over all lists shown so far."""
        return {f"clicks@{self.searching.k}": self.clicks, f"ndcg@{self.searching.k}": self.ndcg}
