"""The loop of multileaving: many rankers share each page, instead of two."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc

from rankduel.bandits.multi_ucb cimport MultiUCB
from rankduel.clicks.base cimport CLICKED, LEFT
from rankduel.interleaving.multileaving cimport MultiImpression, Multileaving
from rankduel.rankings.ranked cimport ranked_t
from rankduel.simulation.search cimport Users

cnp.import_array()


cdef class MultiPlay:
    """A bandit that chooses many rankers at once, and the users who see their multileaved lists. Looks like a `Play`."""

    cdef readonly MultiUCB bandit
    cdef readonly Users world
    cdef readonly int64_t duels  # impressions
    cdef Multileaving method
    cdef MultiImpression shown
    cdef int *arms
    cdef ranked_t *ranked
    cdef double *preferences
    cdef object _preferences

    def __init__(self, MultiUCB bandit not None, Users world not None, Multileaving method not None):
        self.bandit, self.world, self.method = bandit, world, method
        self.shown = MultiImpression(world.searching.k)
        self._preferences = np.zeros((bandit.n_arms, bandit.n_arms))
        self.preferences = <double *>cnp.PyArray_DATA(self._preferences)
        self.arms = <int *>malloc(bandit.n_arms * sizeof(int))
        self.ranked = <ranked_t *>malloc(bandit.n_arms * sizeof(ranked_t))
        if self.arms == NULL or self.ranked == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.arms)
        free(self.ranked)

    regret = float("nan")  # that of a duel is defined between two rankers
    settled = over = False  # nobody is out for ever
    settled_at = None

    def advance(self, int64_t until):
        """Play until so many pages are shown. The GIL is released."""
        with nogil:
            while self.duels < until:
                self.step()
                self.duels += 1

    cdef int step(self) except -1 nogil:
        cdef int64_t query = self.world.arrive()
        cdef int n = self.bandit.choose_set(self.arms), i
        for i in range(n):
            self.world.searching.rank(query, self.arms[i], &self.ranked[i])
        self.visit(self.shown, n, &self.world.searching.grades[self.world.searching.offsets[query]])
        self.world.measure(query, self.shown.documents, self.shown.clicked, self.shown.n)
        self.method.prefer(self.shown, self.preferences)
        return self.bandit.learn_set(self.arms, n, self.preferences)

    cdef int visit(self, MultiImpression shown, int n, const uint8_t *grades) except -1 nogil:
        cdef int document, look = 0
        self.method.begin(shown, self.world.rng, self.ranked, n, self.world.searching.ties)
        while (document := self.method.place(shown, self.world.rng)) >= 0:
            if not look & LEFT:
                look = self.world.searching.user.look(self.world.rng, shown.n - 1, grades[document])
                shown.clicked[shown.n - 1] = look & CLICKED
        return 0
