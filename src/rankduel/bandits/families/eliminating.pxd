from rankduel.bandits.base cimport Bandit
from rankduel.bandits.kernels.certificate cimport CountingCertificate


cdef class Eliminating(Bandit):
    cdef CountingCertificate certificate  # None if no arm is ever eliminated

    cdef bint is_out(self, int arm) noexcept nogil
    cdef bint rules_out(self, int winner, int loser) except -1 nogil
