"""Tsallis-INF over single arms, one side of SparringTsallisINF."""

import numpy as np

cimport numpy as cnp
from libc.math cimport fabs, fmin, sqrt
from libc.stdlib cimport free, malloc

from rankduel.bandits.snapshot_checks import Values
from rankduel.randomness.draws cimport uniform

cnp.import_array()

cdef enum:
    MAX_NEWTON_STEPS = 60  # a limit only. From a warm start, two or three steps are enough


cdef class Tsallis:
    """One estimated loss per arm, initially 0. The bandit that owns it stores the arrays."""

    def __init__(self, n_arms):
        self.n_arms = n_arms
        self.arrays = {"losses": np.zeros(n_arms), "shift": np.zeros(1)}
        self.losses = <double *>cnp.PyArray_DATA(self.arrays["losses"])
        self.shift = <double *>cnp.PyArray_DATA(self.arrays["shift"])
        self.weights = <double *>malloc(self.n_arms * sizeof(double))
        if self.weights == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.weights)

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays."""
        yield "losses", self.arrays["losses"], Values(0, 1e300)
        yield "shift", self.arrays["shift"], Values(-1e300, 1e300)

    cdef int draw(self, bitgen_t *rng, int64_t t, double *probability) noexcept nogil:
        """Draw an arm in proportion to its weight in duel t. Fills in its probability."""
        cdef double total = self.weigh(2 / sqrt(t)), left = uniform(rng) * total  # eta_t
        cdef int arm = 0
        while arm < self.n_arms - 1 and left >= self.weights[arm]:
            left -= self.weights[arm]
            arm += 1
        probability[0] = self.weights[arm] / total
        return arm

    cdef void add(self, int arm, double loss) noexcept nogil:
        self.losses[arm] += loss

    cdef double weigh(self, double eta) noexcept nogil:
        """Compute w_i = 4 / (eta (L_i - x))^2 with the x for which they sum to 1. Returns the sum, 1 up to rounding.

        The sum is convex and increasing in x. With x = min L - 2 / eta one weight is 1, so this x is at least the
        solution, and Newton's method descends from there to it. If it starts below the solution, the first step
        overshoots it.
        """
        cdef double low = self.losses[0], x, root, total = 0, slope
        cdef int i, step
        for i in range(self.n_arms):
            low = fmin(low, self.losses[i])
        low -= 2 / eta
        x = fmin(self.shift[0], low)
        for step in range(MAX_NEWTON_STEPS):
            total = slope = 0
            for i in range(self.n_arms):
                root = 2 / (eta * (self.losses[i] - x))
                self.weights[i] = root * root
                total += self.weights[i]
                slope += self.weights[i] * root
            if fabs(total - 1) < 1e-9:
                break
            x = fmin(x - (total - 1) / (eta * slope), low)
        self.shift[0] = x
        return total
