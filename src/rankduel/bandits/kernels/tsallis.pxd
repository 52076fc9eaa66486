# Weights of arms by Tsallis-INF: draw an arm in O(K), add to a loss in O(1).

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t


cdef class Tsallis:
    cdef readonly dict arrays
    cdef int n_arms
    cdef double *losses
    cdef double *shift  # x: where the weights last summed up to 1, to begin with next time
    cdef double *weights

    cdef int draw(self, bitgen_t *rng, int64_t t, double *probability) noexcept nogil
    cdef void add(self, int arm, double loss) noexcept nogil
    cdef double weigh(self, double eta) noexcept nogil
