"""Ratings with uncertainty, updated by a Kalman filter. CertifiedSparring predicts duels with them."""

import numpy as np

cimport numpy as cnp

from rankduel.bandits.kernels.sample_trees cimport larger, smaller
from rankduel.bandits.snapshot_checks import MAX_DUELS, Values

cnp.import_array()

cdef double PRIOR_DEVIATION = 0.01, PRIOR_DUELS = 50  # prior of the mean squared deviation of pairs, and its weight
cdef double MIN_TRUST_DUELS = 1, MAX_TRUST_DUELS = 2000
cdef double MODEL_VARIANCE = 0.2  # additional variance of a rating, in units of 1 / trust

RATING = np.dtype([("mean", "f8"), ("variance", "f8"), ("grudge", "f8"), ("nemesis", "i8")])  # the names in snapshots


cdef class Ratings:
    """One rating per arm, initially 0 with variance 1. The bandit that owns it stores the arrays."""

    def __init__(self, n_arms):
        self.arrays = {"rated": np.zeros(n_arms, RATING), "spread": np.zeros(2)}
        self.arrays["rated"]["variance"], self.arrays["rated"]["nemesis"] = 1, -1
        self.bind_arrays()

    def bind_arrays(self):
        """Update the pointers after the arrays were replaced or loaded."""
        self.arms = <rating_t *>cnp.PyArray_DATA(self.arrays["rated"])
        self.deviation = <double *>cnp.PyArray_DATA(self.arrays["spread"])
        self.set_trust()

    cdef void set_trust(self) noexcept nogil:
        """Set the weight of predictions so that Beta(2 trust p, 2 trust (1 - p)) deviates as much as pairs did."""
        cdef double deviation = (self.deviation[0] + PRIOR_DEVIATION * PRIOR_DUELS) / (self.deviation[1] + PRIOR_DUELS)
        self.trust = smaller(larger(0.125 / larger(deviation, 1e-6) - 0.5, MIN_TRUST_DUELS), MAX_TRUST_DUELS)
        self.model_variance = MODEL_VARIANCE / self.trust

    cdef void record_deviation(self, double won, double lost, double expected) noexcept nogil:
        """Compare the record of a pair, before its next win is counted, with the prediction."""
        self.deviation[0] += (won - (won + lost) * expected) * (1 - expected)  # its mean is n (p - expected)^2
        self.deviation[1] += won + lost
        self.set_trust()

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays."""
        rated = self.arrays["rated"]
        yield "rated.mean", rated["mean"], Values(-1e9, 1e9)
        yield "rated.variance", rated["variance"], Values(0, 1)
        yield "rated.grudge", rated["grudge"], Values(0, MAX_DUELS)
        yield "rated.nemesis", rated["nemesis"], Values(-1, len(rated) - 1)
        yield "spread", self.arrays["spread"], Values([-MAX_DUELS, 0], MAX_DUELS)
