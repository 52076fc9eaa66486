from libc.stdint cimport int64_t

from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.certificate cimport Eliminations


cdef class Learner:
    cdef readonly int n_arms
    cdef readonly object seed
    cdef readonly int64_t asked  # duels handed out
    cdef readonly int64_t told  # outcomes learnt: the papers' t, which counts from 1
    cdef public int n_alive  # arms left; at 1 the bandit has its winner and is never asked again by a simulation
    cdef readonly bint tied  # the arms left are known to be even: as with one arm left, nothing will change any more
    cdef Eliminations eliminations  # who is out and why; None for a bandit that never eliminates, or does so in its own way
    cdef bitgen_t *rng
    cdef object _bit_generator
    cdef dict _parameters, _arrays, _pending
    cdef list _parts  # whose arrays are state of this bandit, and the prefix of their names
    cdef dict _stored  # the arrays of the snapshot that is being restored; None: no one is

    cdef void *array(self, str name, shape, dtype=*) except NULL
