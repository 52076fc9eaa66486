"""Uniform play: the floor under every other bandit."""

from libc.stdint cimport int64_t

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.randomness.draws cimport below


cdef class Uniform(Bandit):
    """Play two different arms at random, whatever has been learnt: what every other bandit must beat.

    Idea
        None. Its champion, the arm with the best record, is the Borda winner in the long run.

    Parameters
        n_arms: K, at least 1.
        seed: of the bandit's own random streams; None draws a fresh one.

    Cost
        O(1) time per duel, O(K) memory.

    Guarantee
        None: regret is linear in T.

    References
        None.

    Deviations
        None.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.Uniform(3, seed=1)
        >>> duel = bandit.ask()
        >>> bandit.tell(duel, rd.Outcome.FIRST)
        >>> bandit.champion == duel.first
        True
    """

    cdef int64_t *won
    cdef int64_t *fought

    def __init__(self, n_arms, *, seed=None):
        super().__init__(n_arms, seed=seed)
        self.won = <int64_t *>self.array("won", self.n_arms)
        self.fought = <int64_t *>self.array("fought", self.n_arms)

    cdef int choose(self, duel_t *duel) except -1 nogil:
        duel.first = below(self.rng, self.n_arms)
        duel.second = below(self.rng, self.n_arms - 1) if self.n_arms > 1 else 0
        duel.second += self.n_arms > 1 and duel.second >= duel.first
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        if outcome != TIE and duel.first != duel.second:
            self.won[duel.first if outcome == FIRST else duel.second] += 1
            self.fought[duel.first] += 1
            self.fought[duel.second] += 1
        return 0

    @property
    def champion(self):
        """The arm with the best record so far."""
        return int(((self._arrays["won"] + 1) / (self._arrays["fought"] + 2)).argmax())
