from rankduel.bandits.base cimport Bandit
from rankduel.bandits.kernels.certificate cimport Referee


cdef class Judged(Bandit):
    cdef Referee referee  # None: nobody is ever eliminated

    cdef bint is_out(self, int arm) noexcept nogil
    cdef bint rules_out(self, int winner, int loser) except -1 nogil
