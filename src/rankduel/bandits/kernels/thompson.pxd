# Thompson sampling with one Beta posterior per arm: find the arm with the largest draw without drawing all arms.

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

cdef struct posterior_t:
    double a, b  # successes + 1 and failures + 1, whole numbers


cdef class Thompson:
    cdef readonly dict arrays
    cdef int n, size
    cdef bint spare  # place the level so that a draw without the strongest arm (`draw_but`) is cheap too
    cdef double aim  # target of `reach`
    cdef posterior_t *arms
    cdef double *level
    cdef double *tree  # sum tree of the rates at which arms arrive above the level, 0 for sure arms
    cdef double *weights  # -log P(draw below the level) for sure arms, 0 for other arms, REMOVED for eliminated ones
    cdef int64_t *sure  # the sure arms, which are drawn every time
    cdef int64_t *n_sure
    cdef int64_t *left  # number of arms that are not eliminated
    cdef int64_t *fitted  # 1 if the level is valid, 0 if it must be moved before the next draw
    cdef int64_t *learnt  # number of results
    cdef int *events  # scratch: the arms that arrive in one draw

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
