from libc.stdint cimport int64_t


cdef class MultiUCB:
    cdef readonly int n_arms
    cdef readonly object seed
    cdef readonly int64_t told  # impressions learnt
    cdef double alpha
    cdef bint everyone  # the released rule
    cdef double *_wins  # wins[i, j]: i over j
    cdef double *until  # an arm is out while log t is below
    cdef int *witness  # the arm that keeps it out
    cdef object _arrays
    cdef dict _parameters

    cdef int choose_set(self, int *arms) except -1 nogil
    cdef int learn_set(self, const int *arms, int n, const double *preferences) except -1 nogil
    cdef double turn(self, int i, int j) noexcept nogil
    cdef void put_out(self, int i, int j) noexcept nogil
    cdef void look_again(self, int i) noexcept nogil
