# Beta posteriors of arms, one each, drawn all at once: which arm's draw is the largest?

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

cdef struct posterior_t:
    double a, b  # successes + 1, failures + 1; whole numbers


cdef class Thompson:
    cdef readonly dict arrays
    cdef int n, size
    cdef bint spare  # the level is such that a draw without the strongest arm is cheap, too
    cdef double aim
    cdef posterior_t *arms
    cdef double *level
    cdef double *tree  # of rates, at which arms are drawn above the level; 0 for the sure ones
    cdef double *weights  # -log of the chance to be drawn below it, for the sure ones; else 0, or REMOVED
    cdef int64_t *sure
    cdef int64_t *n_sure
    cdef int64_t *left  # arms that are not out
    cdef int64_t *fitted
    cdef int64_t *learnt
    cdef int *events

    cdef int draw(self, bitgen_t *rng) noexcept nogil
    cdef int draw_but(self, bitgen_t *rng, int skip) noexcept nogil
    cdef int draw_below(self, bitgen_t *rng, double best, int chosen, int skip) noexcept nogil
    cdef void learn(self, int arm, bint success) noexcept nogil
    cdef void learn_self(self, int arm) noexcept nogil
    cdef void remove(self, int arm) noexcept nogil
    cdef void update_rate(self, int arm) noexcept nogil
    cdef void fit(self) noexcept nogil
    cdef void rebuild(self) noexcept nogil
    cdef double rate(self, int arm) noexcept nogil
    cdef void unlist(self, int arm) noexcept nogil
    cdef int strongest(self) noexcept nogil
    cdef double reach(self) noexcept nogil
    cdef double fall(self) noexcept nogil
