# Tsallis-INF weights of arms: draw an arm in O(K), add to a loss in O(1).

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t


cdef class Tsallis:
    cdef readonly dict arrays
    cdef int n_arms
    cdef double *losses
    cdef double *shift  # the last x for which the weights summed to 1, as a warm start
    cdef double *weights

    cdef int draw(self, bitgen_t *rng, int64_t t, double *probability) noexcept nogil
    cdef void add(self, int arm, double loss) noexcept nogil
    cdef double weigh(self, double eta) noexcept nogil
