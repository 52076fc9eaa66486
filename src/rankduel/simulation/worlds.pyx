"""Worlds: draw the outcome of a duel from a preference matrix or from utilities."""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport exp

from rankduel.bandits.base cimport FIRST, SECOND, duel_t
from rankduel.randomness import bit_generator
from rankduel.randomness.draws cimport uniform

cnp.import_array()


cdef class World:
    """The environment of a bandit: draws the outcome of each duel, from its own random stream."""

    def __init__(self, n_arms, seed):
        self.n_arms = n_arms
        self.seed = seed
        self._bit_generator = bit_generator(seed, "world")
        self.rng = <bitgen_t *>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")

    cdef int play(self, const duel_t *duel) except -1 nogil:
        """Draw the outcome of a duel, an `outcome_t`."""
        return FIRST if uniform(self.rng) < 0.5 else SECOND

    def measures(self):
        """The sums of this world's measures over all duels, by name."""
        return {}


cdef class MatrixWorld(World):
    """Outcomes from a matrix: arm i wins against arm j with probability P[i, j]."""

    cdef object _probabilities
    cdef const double *probabilities

    def __init__(self, matrix, seed):
        super().__init__(matrix.n_arms, seed)
        self._probabilities = np.ascontiguousarray(matrix.probabilities, np.float64)
        self.probabilities = <const double *>cnp.PyArray_DATA(self._probabilities)

    cdef int play(self, const duel_t *duel) except -1 nogil:
        cdef double p = self.probabilities[<size_t>duel.first * self.n_arms + duel.second]
        return FIRST if uniform(self.rng) < p else SECOND


cdef class UtilityWorld(World):
    """Outcomes from utilities: arm i wins against j with probability 1 / (1 + exp(u_j - u_i)). O(K) memory."""

    cdef object _utilities
    cdef const double *utilities

    def __init__(self, problem, seed):
        super().__init__(problem.n_arms, seed)
        self._utilities = np.ascontiguousarray(problem.utilities, np.float64)
        self.utilities = <const double *>cnp.PyArray_DATA(self._utilities)

    cdef int play(self, const duel_t *duel) except -1 nogil:
        cdef double p = 1 / (1 + exp(self.utilities[duel.second] - self.utilities[duel.first]))
        return FIRST if uniform(self.rng) < p else SECOND
