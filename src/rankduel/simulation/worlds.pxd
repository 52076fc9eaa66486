from numpy.random cimport bitgen_t

from rankduel.bandits.base cimport duel_t


cdef class World:
    cdef readonly int n_arms
    cdef readonly object seed
    cdef readonly bint measured  # the world measures each page, so the winner is shown until the horizon
    cdef bitgen_t *rng
    cdef object _bit_generator

    cdef int play(self, const duel_t *duel) except -1 nogil
