from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t


cdef class MultiOptimistic(MultiBandit):
    cdef double alpha
    cdef double *_wins  # wins[i, j]: i over j
    cdef double *behind  # behind[i]: the largest deficit of i. Arm i is beaten while the width is below it
    cdef int *witness  # witness[i]: the arm with the largest deficit of i

    cdef int unbeaten(self, double width, int *arms) noexcept nogil
    cdef int everybody(self, int *arms) noexcept nogil
    cdef double deficit(self, int i, int j) noexcept nogil
    cdef void find_witness(self, int i) noexcept nogil
