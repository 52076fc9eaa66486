"""Exponential weights of arms, for REX3 and SparringEXP3."""

import numpy as np

cimport numpy as cnp
from libc.math cimport exp, fmax

from rankduel.bandits.snapshot_checks import Values, tree_rules
from rankduel.randomness.draws cimport below, uniform
from rankduel.randomness.sum_tree cimport tree_build, tree_change, tree_draw, tree_size

cnp.import_array()


cdef class Weights:
    """One weight per arm, stored as a logarithm, initially 1. The bandit that owns it stores the arrays."""

    def __init__(self, n_arms):
        self.n_arms, self.size = n_arms, tree_size(n_arms)
        self.arrays = {"logs": np.zeros(n_arms), "shift": np.zeros(1), "tree": np.zeros(2 * self.size)}
        self.logs = <double *>cnp.PyArray_DATA(self.arrays["logs"])
        self.shift = <double *>cnp.PyArray_DATA(self.arrays["shift"])
        self.tree = <double *>cnp.PyArray_DATA(self.arrays["tree"])
        self.build()

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays."""
        logs, shift, tree = self.arrays["logs"], self.arrays["shift"], self.arrays["tree"]
        yield "logs", logs, Values(-1e300, 1e300)
        yield "shift", shift, Values(logs.max() - 300, logs.max() + 300)
        yield from tree_rules("tree", tree, np.exp(logs - shift), close=1e-9)
        yield "tree", tree[1], Values(1e-100, 1e100)

    cdef int draw(self, bitgen_t *rng, double gamma, double *probability) noexcept nogil:
        """Draw an arm with probability (1 - gamma) weight / sum of weights + gamma / K. Fills in that probability."""
        cdef int arm = below(rng, self.n_arms) if uniform(rng) < gamma else tree_draw(rng, self.tree, self.size)
        probability[0] = (1 - gamma) * self.tree[self.size + arm] / self.tree[1] + gamma / self.n_arms
        return arm

    cdef void multiply(self, int arm, double log_factor) noexcept nogil:
        self.logs[arm] += log_factor
        tree_change(self.tree, self.size, arm, exp(self.logs[arm] - self.shift[0]))
        if not 1e-100 < self.tree[1] < 1e100:
            self.build()

    cdef void build(self) noexcept nogil:
        """Choose the shift that makes the largest weight 1, and rebuild the tree."""
        cdef int i
        self.shift[0] = self.logs[0]
        for i in range(self.n_arms):
            self.shift[0] = fmax(self.shift[0], self.logs[i])
        for i in range(self.n_arms):
            self.tree[self.size + i] = exp(self.logs[i] - self.shift[0])
        tree_build(self.tree, self.size)
