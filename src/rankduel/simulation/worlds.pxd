from numpy.random cimport bitgen_t

from rankduel.bandits.base cimport duel_t, outcome_t


cdef class World:
    cdef readonly int n_arms
    cdef readonly object seed
    cdef bitgen_t *rng
    cdef object _bit_generator

    cdef outcome_t play(self, const duel_t *duel) noexcept nogil
