"""Count the wins of every pair of rankers over simulated searches, to estimate preferences."""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.string cimport memset

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport binomial_t, random_binomial

from rankduel.randomness.draws cimport uniform
from rankduel.simulation.searching cimport Searching

cnp.import_array()


cdef class Comparing:
    """The wins of all pairs over some duels: the part of one thread in a preference estimate.

    While it plays, other threads may read `duels` and set `stop`.
    """

    cdef readonly Searching searching
    cdef readonly object wins  # wins[i, j]: i over j
    cdef readonly int64_t duels
    cdef public bint stop
    cdef int64_t *counts
    cdef bint coin

    def __init__(self, world, *, coin):
        self.searching = Searching(world.collection, world.interleaving, world.clicks, world.k, world.ties)
        self.coin = coin  # break ties by a coin flip
        self.wins = np.zeros((world.n_arms, world.n_arms), np.int64)
        self.counts = <int64_t *>cnp.PyArray_DATA(self.wins)

    def play(self, bit_generator, int64_t first, int64_t last, int64_t each, extra, bint independent):
        """Play every pair `each` times on each query in range(first, last), and `extra` times on random ones of them.

        `extra` has one count for each pair i < j, row by row. If `independent`, each extra duel draws its query
        independently. Otherwise a query gets at most one extra duel per pair. Returns False if it was stopped, else
        True.
        """
        cdef cnp.ndarray left = np.array(extra, np.int64)
        cdef int64_t *rest = <int64_t *>cnp.PyArray_DATA(left)
        cdef bitgen_t *rng = <bitgen_t *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        cdef int64_t query
        cdef bint done = True
        if len(left) != self.searching.n_rankers * (self.searching.n_rankers - 1) // 2:
            raise ValueError(f"extra has {len(left)} counts, expected one per pair of the {self.wins.shape[0]} rankers")
        with bit_generator.lock, nogil:
            for query in range(first, last):
                if not self.play_pairs(rng, query, last - query, each, rest, independent):
                    done = False
                    break
        return done

    cdef int play_pairs(
        self, bitgen_t *rng, int64_t query, int64_t queries, int64_t each, int64_t *rest, bint independent
    ) except -1 nogil:
        """Play all pairs on one query. `queries` are left, including this one. Returns 0 if it was stopped."""
        cdef int n = self.searching.n_rankers, i, j, pair = 0
        cdef int64_t more, duel, won, lost
        cdef double credit
        cdef binomial_t memory
        memset(&memory, 0, sizeof(memory))
        for i in range(n):
            for j in range(i + 1, n):
                if self.stop:
                    return 0
                if rest[pair] == 0:
                    more = 0
                elif independent:
                    more = random_binomial(rng, 1.0 / queries, rest[pair], &memory)
                else:
                    more = uniform(rng) * queries < rest[pair]
                rest[pair] -= more
                pair += 1
                won = lost = 0
                for duel in range(each + more):
                    credit = self.searching.duel(rng, query, i, j, False)
                    if credit == 0 and self.coin:
                        credit = uniform(rng) - 0.5
                    won += credit > 0
                    lost += credit < 0
                self.counts[i * n + j] += won
                self.counts[j * n + i] += lost
                self.duels += each + more
        return 1
