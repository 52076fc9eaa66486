# Exponential weights of arms: draw an arm in proportion to its weight, or change a weight, both in O(log K).

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t


cdef class Weights:
    cdef readonly dict arrays
    cdef int n_arms
    cdef int size  # number of leaves of the tree
    cdef double *logs  # logarithms of the weights
    cdef double *shift  # the tree holds exp(log - shift), which cannot overflow
    cdef double *tree

    cdef int draw(self, bitgen_t *rng, double gamma, double *probability) noexcept nogil
    cdef void multiply(self, int arm, double log_factor) noexcept nogil
    cdef void build(self) noexcept nogil
