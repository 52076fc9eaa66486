"""The compiled simulation loop for multileaving, where many rankers share each page."""

import numpy as np

cimport numpy as cnp
from libc.math cimport fmax, fmin
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc

from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t
from rankduel.clicks.base cimport CLICKED, LEFT
from rankduel.interleaving.multileaving cimport MultiImpression, Multileaving
from rankduel.rankings.ranked cimport ranked_t
from rankduel.simulation.search cimport Users

cnp.import_array()

cdef enum combine_t:
    MEAN
    MIN
    MAX


cdef class MultiPlay:
    """A `MultiBandit` in a world of simulated users who see multileaved lists. It has the interface of `Play`.

    The regret of a page is the mean over the rankers that share it, or their minimum or maximum, depending on its kind.
    A ranker that is alone on a page shows its own list, and the bandit learns nothing from it.
    """

    cdef readonly MultiBandit bandit
    cdef readonly Users world
    cdef readonly int64_t duels  # number of pages shown
    cdef readonly object settled_at  # the page after which one arm was left, else None
    cdef readonly double regret
    cdef Multileaving method
    cdef MultiImpression shown
    cdef multi_duel_t duel
    cdef ranked_t *ranked
    cdef double *preferences
    cdef const double *gaps
    cdef combine_t combine
    cdef object _kept

    def __init__(self, MultiBandit bandit not None, Users world not None, Multileaving method not None, regret):
        bandit._check_made()
        self.bandit, self.world, self.method = bandit, world, method
        self.shown = MultiImpression(world.searching.k)
        gaps = np.full(bandit.n_arms, np.nan) if regret is None else np.ascontiguousarray(regret.gaps, np.float64)
        self._kept = gaps, np.zeros((bandit.n_arms, bandit.n_arms))
        self.gaps = <const double *>cnp.PyArray_DATA(gaps)
        self.preferences = <double *>cnp.PyArray_DATA(self._kept[1])
        self.combine = MEAN if regret is None else {"mean": MEAN, "min": MIN, "max": MAX}[regret.combine]
        self.duel.arms = <int *>malloc(bandit.n_arms * sizeof(int))
        self.ranked = <ranked_t *>malloc(bandit.n_arms * sizeof(ranked_t))
        if self.duel.arms == NULL or self.ranked == NULL:
            raise MemoryError
        self.settled_at = 0 if self.settled else None

    def __dealloc__(self):
        free(self.duel.arms)
        free(self.ranked)

    @property
    def settled(self):
        """Whether one arm is left, so that the result is final."""
        return self.bandit.n_alive == 1

    @property
    def over(self):
        """Whether there is nothing left to compute. Always false, because each page is measured."""
        return False

    def advance(self, int64_t until):
        """Play until `until` pages are shown. Releases the GIL."""
        if not self.settled:
            with nogil:
                self.run(until)
            if self.settled:
                self.settled_at = self.duels
        if self.settled:
            self.duel.n, self.duel.arms[0] = 1, self.bandit.winner
            with nogil:
                while self.duels < until:  # show the winner alone
                    self.show()

    cdef int run(self, int64_t until) except -1 nogil:
        while self.duels < until and self.bandit.n_alive > 1:
            self.duel.number, self.duel.n = self.bandit.asked + 1, 0
            self.bandit.choose(&self.duel)
            self.bandit.asked += 1
            self.show()
            self.bandit.told += 1
            self.bandit.learn(&self.duel, self.preferences)
        return 0

    cdef int show(self) except -1 nogil:
        """Show a page to a user, and compute the preferences from the clicks."""
        cdef int64_t query = self.world.arrive()
        cdef int i
        if self.duel.n == 1:
            self.world.searching.duel(self.world.rng, query, self.duel.arms[0], self.duel.arms[0], True)
            self.world.measure(
                query,
                self.world.searching.shown.documents,
                self.world.searching.shown.clicked,
                self.world.searching.shown.n,
            )
            self.preferences[0] = 0
        else:
            for i in range(self.duel.n):
                self.world.searching.rank(query, self.duel.arms[i], &self.ranked[i])
            self.visit(self.shown, &self.world.searching.grades[self.world.searching.offsets[query]])
            self.world.measure(query, self.shown.documents, self.shown.clicked, self.shown.n)
            self.method.prefer(self.shown, self.preferences)
        self.duels += 1
        self.add_regret()
        return 0

    cdef int visit(self, MultiImpression shown, const uint8_t *grades) except -1 nogil:
        cdef int document, look = 0
        self.method.begin(shown, self.world.rng, self.ranked, self.duel.n, self.world.searching.ties)
        while (document := self.method.place(shown, self.world.rng)) >= 0:
            if not look & LEFT:
                look = self.world.searching.user.look(self.world.rng, shown.n - 1, grades[document])
                shown.clicked[shown.n - 1] = look & CLICKED
        return 0

    cdef void add_regret(self) noexcept nogil:
        """Add the regret of one page."""
        cdef double gap, total = 0, least = self.gaps[self.duel.arms[0]], largest = self.gaps[self.duel.arms[0]]
        cdef int i
        for i in range(self.duel.n):
            gap = self.gaps[self.duel.arms[i]]
            total += gap
            least, largest = fmin(least, gap), fmax(largest, gap)
        self.regret += total / self.duel.n if self.combine == MEAN else least if self.combine == MIN else largest
