# The arms that can be chosen, without gaps in slots 0 to n - 1, and two samples of each, of which the best is found fast.

from libc.stdint cimport int32_t

from rankduel.bandits.kernels.sample_trees cimport SampleTrees


cdef class ActiveArms:
    cdef readonly dict arrays
    cdef int32_t *arm_at  # of each slot; the first n slots are taken
    cdef int32_t *slot_of  # of each arm; -1: none, it is out or paused
    cdef SampleTrees samples  # by slot: the first ones choose the champion, the second ones the target
    cdef int n

    cdef void insert(self, int arm) noexcept nogil
    cdef void remove(self, int arm) noexcept nogil
