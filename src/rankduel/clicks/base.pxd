from numpy.random cimport bitgen_t

cdef enum look_t:
    CLICKED = 1  # bits: the document was clicked
    LEFT = 2  # the user left


cdef class ClickModel:
    cdef readonly int n_grades  # grades are 0, ..., n_grades - 1

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil
    cdef double click_chance(self, int grade)
    cdef double stay_chance(self, int position, int grade)
    cdef list known(self, object grades)
