"""`Eliminating`: base of bandits with certified elimination as an option (DTS, SelfSparring, Uniform)."""

from rankduel.bandits.base cimport Bandit
from rankduel.bandits.kernels.certificate cimport CountingCertificate
from rankduel.bandits.elimination import Certified, elimination_from


cdef class Eliminating(Bandit):
    """Without `elimination`, the published algorithm. With `Certified`, the certificate eliminates arms.

    Then no arm meets itself, because such a duel gives no evidence. RUCB inherits this class but has no such option.
    """

    def __init__(self, n_arms, *, seed, **parameters):
        elimination = elimination_from(parameters.get("elimination"))
        if not (elimination is None or isinstance(elimination, Certified)):
            raise ValueError(f"elimination of {type(self).__name__} must be Certified(delta=...), got {elimination!r}")
        super().__init__(n_arms, seed=seed, **parameters)
        if elimination is not None:
            self._parameters["elimination"] = elimination
            self.certificate = self.eliminations = CountingCertificate(self.n_arms, elimination)
            self._adopt("", self.certificate)

    cdef bint is_out(self, int arm) noexcept nogil:
        return self.certificate is not None and self.certificate.gone[arm]

    cdef bint rules_out(self, int winner, int loser) except -1 nogil:
        """Record a duel as evidence. Return true if it eliminates the loser."""
        if self.certificate is None or winner == loser:
            return False
        if self.certificate.record_duel(winner, loser) and self.n_alive > 1:
            self.certificate.add(loser, winner, self.told)
            self.n_alive -= 1
            self.tied = self.certificate.tolerance > 0 and self.certificate.all_even()
            return True
        if self.certificate.tolerance > 0:
            self.tied = self.certificate.has_evened(winner, loser) and self.certificate.all_even()
        return False
