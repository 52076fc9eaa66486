from rankduel.bandits.multi_bandit cimport MultiBandit, multi_duel_t


cdef class MultiOptimistic(MultiBandit):
    cdef double alpha
    cdef double *_wins  # wins[i, j]: i over j
    cdef double *behind  # i is beaten by a bound of width b^2 = alpha log t / n while alpha log t is below behind[i]
    cdef int *witness  # the arm that i is so far behind

    cdef int unbeaten(self, double width, int *arms) noexcept nogil
    cdef int everybody(self, int *arms) noexcept nogil
    cdef double deficit(self, int i, int j) noexcept nogil
    cdef void find_witness(self, int i) noexcept nogil
