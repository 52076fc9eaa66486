from numpy.random cimport bitgen_t


cdef double half_normal(bitgen_t *rng) noexcept nogil
