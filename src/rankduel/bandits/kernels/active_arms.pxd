# The arms that can be chosen, in slots 0 to n - 1 without gaps, and two samples of each in trees that find the best.

from libc.stdint cimport int32_t

from rankduel.bandits.kernels.sample_trees cimport SampleTrees


cdef class ActiveArms:
    cdef readonly dict arrays
    cdef int32_t *arm_at  # arm_at[slot], for the first n slots
    cdef int32_t *slot_of  # slot_of[arm], -1 if the arm is eliminated, retired or paused
    cdef SampleTrees samples  # by slot: the first samples choose the champion, the second samples the target
    cdef int n

    cdef void insert(self, int arm) noexcept nogil
    cdef void remove(self, int arm) noexcept nogil
