"""Exponential weights, as REX3 and EXP3 use them."""

import numpy as np

cimport numpy as cnp
from libc.math cimport exp, fmax

from rankduel.randomness.draws cimport below, uniform

cnp.import_array()


cdef class Weights:
    """A weight per arm, 1 at first, kept as a logarithm. Its arrays are state: whoever owns it stores them."""

    def __init__(self, n_arms):
        self.n_arms, self.size = n_arms, 1
        while self.size < self.n_arms:
            self.size *= 2
        self.arrays = {"logs": np.zeros(n_arms), "shift": np.zeros(1), "tree": np.zeros(2 * self.size)}
        self.logs = <double *>cnp.PyArray_DATA(self.arrays["logs"])
        self.shift = <double *>cnp.PyArray_DATA(self.arrays["shift"])
        self.tree = <double *>cnp.PyArray_DATA(self.arrays["tree"])
        self.build()

    cdef int draw(self, bitgen_t *rng, double gamma, double *probability) noexcept nogil:
        """An arm with probability (1 - gamma) weight / sum of weights + gamma / K, and that probability."""
        cdef double left
        cdef int node = 1
        if uniform(rng) < gamma:
            node = self.size + below(rng, self.n_arms)
        else:
            left = uniform(rng) * self.tree[1]
            while node < self.size:
                node *= 2
                if left >= self.tree[node] and self.tree[node + 1] > 0:
                    left -= self.tree[node]
                    node += 1
        probability[0] = (1 - gamma) * self.tree[node] / self.tree[1] + gamma / self.n_arms
        return node - self.size

    cdef void multiply(self, int arm, double log_factor) noexcept nogil:
        cdef int node = self.size + arm
        self.logs[arm] += log_factor
        self.tree[node] = exp(self.logs[arm] - self.shift[0])
        while node > 1:
            node //= 2
            self.tree[node] = self.tree[2 * node] + self.tree[2 * node + 1]
        if not 1e-100 < self.tree[1] < 1e100:
            self.build()

    cdef void build(self) noexcept nogil:
        """Shift so that the largest weight is 1, and sum up anew."""
        cdef int i
        self.shift[0] = self.logs[0]
        for i in range(self.n_arms):
            self.shift[0] = fmax(self.shift[0], self.logs[i])
        for i in range(self.n_arms):
            self.tree[self.size + i] = exp(self.logs[i] - self.shift[0])
        for i in range(self.size - 1, 0, -1):
            self.tree[i] = self.tree[2 * i] + self.tree[2 * i + 1]
