# Beta posteriors of arms, one each, drawn all at once: which arm's draw is the largest?

from libc.stdint cimport int64_t, uint8_t
from numpy.random cimport bitgen_t

from rankduel.randomness.beta cimport betas_t


cdef class Thompson:
    cdef readonly dict arrays
    cdef betas_t arms
    cdef double *bar
    cdef int64_t *likely  # the arm that has set the bar; -1: none
    cdef int64_t *learnt

    cdef int draw(self, bitgen_t *rng) noexcept nogil
    cdef int draw_but(self, bitgen_t *rng, int skip, const uint8_t *barred) noexcept nogil
    cdef void learn(self, int arm, bint success) noexcept nogil
    cdef void raise_bar(self) noexcept nogil
