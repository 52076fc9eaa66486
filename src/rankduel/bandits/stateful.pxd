from libc.stdint cimport int64_t

from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.certificate cimport Eliminations


cdef class Learner:
    cdef readonly int n_arms
    cdef readonly object seed
    cdef readonly int64_t asked  # number of duels asked for
    cdef readonly int64_t told  # number of outcomes learnt, the t of the papers, which counts from 1
    cdef public int n_alive  # number of arms left. At 1 there is a winner, and a simulation stops asking
    cdef readonly bint tied  # all arms left are known to be even. The result is final, as with one arm left
    cdef Eliminations eliminations  # eliminated arms and the evidence. None if the bandit does not use this class
    cdef bitgen_t *rng
    cdef object _bit_generator
    cdef dict _parameters, _arrays, _pending
    cdef list _parts  # (prefix, part): parts with arrays in the state of this bandit, and the prefix of their names
    cdef dict _stored  # arrays of the snapshot during `restore`, otherwise None

    cdef void *array(self, str name, shape, dtype=*) except NULL
