"""Bandits that eliminate nobody by themselves, and may be given a rule that does."""

from rankduel.bandits.base cimport Bandit
from rankduel.bandits.kernels.certificate cimport Referee
from rankduel.bandits.elimination import Certified, elimination_from


cdef class Judged(Bandit):
    """Without `elimination`, as published. With `Certified`, arms go as the certificate says, and nobody meets itself."""

    def __init__(self, n_arms, *, seed, **parameters):
        elimination = elimination_from(parameters.get("elimination"))
        if not (elimination is None or isinstance(elimination, Certified)):
            raise ValueError(f"{type(self).__name__} takes Certified(delta=...) as elimination, got {elimination!r}")
        super().__init__(n_arms, seed=seed, **parameters)
        if elimination is not None:
            self._parameters["elimination"] = elimination
            self.referee = self.out = Referee(self.n_arms, elimination)
            self._adopt("", self.referee)

    cdef bint is_out(self, int arm) noexcept nogil:
        return self.referee is not None and self.referee.gone[arm]

    cdef bint rules_out(self, int winner, int loser) except -1 nogil:
        """Take a duel in as evidence; true if the loser goes."""
        if self.referee is None or winner == loser:
            return False
        if self.referee.judge(winner, loser) and self.n_alive > 1:
            self.referee.out(loser, winner, self.told)
            self.n_alive -= 1
            self.tied = self.referee.tolerance > 0 and self.referee.all_even()
            return True
        if self.referee.tolerance > 0:
            self.tied = self.referee.has_evened(winner, loser) and self.referee.all_even()
        return False
