"""Uniform: random duels, the baseline for every other bandit."""

import numpy as np

from libc.stdint cimport int64_t

from rankduel.bandits.base cimport FIRST, TIE, duel_t, outcome_t
from rankduel.bandits.families.eliminating cimport Eliminating
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.randomness.draws cimport below


cdef class Uniform(Eliminating):
    """Play two different arms at random: the baseline that every other bandit must beat.

    Idea
        Use it as a baseline, or when you want unbiased counts for all pairs. Outcomes do not influence the choice of
        the duels. Its champion, the arm with the best win rate, converges to the Borda winner.

    Parameters
        n_arms: K, at least 1.
        elimination: with None, no arm is eliminated. Set it to `Certified(delta)` if you want to eliminate arms with a
            guarantee. Then duels are drawn from the arms left.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(1) time per duel, O(K) memory.

    Guarantee
        None. Regret is linear in T.

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

    cdef int64_t *left  # all arms, the n_alive arms that are left first
    cdef int64_t *won
    cdef int64_t *fought

    def __init__(self, n_arms, *, elimination=None, seed=None):
        super().__init__(n_arms, elimination=elimination, seed=seed)
        self.left = <int64_t *>self.array("left", self.n_arms)
        self._arrays["left"][:] = np.arange(self.n_arms)
        self.won = <int64_t *>self.array("won", self.n_arms)
        self.fought = <int64_t *>self.array("fought", self.n_arms)

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef int first = below(self.rng, self.n_alive), second = below(self.rng, self.n_alive - 1) if self.n_alive > 1 else 0
        second += self.n_alive > 1 and second >= first
        duel.first, duel.second = <int>self.left[first], <int>self.left[second]
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        cdef int seat = 0
        if outcome == TIE or winner == loser or self.is_out(winner) or self.is_out(loser):
            return 0
        self.won[winner] += 1
        self.fought[winner] += 1
        self.fought[loser] += 1
        if self.rules_out(winner, loser):
            while self.left[seat] != loser:
                seat += 1
            self.left[seat], self.left[self.n_alive] = self.left[self.n_alive], loser
        return 0

    def _snapshot_rules(self, stored):
        yield from Eliminating._snapshot_rules(self, stored)
        left = self._arrays["left"]
        yield "left", np.sort(left), Equal(np.arange(self.n_arms))
        yield "left", np.sort(left[:self.n_alive]), Equal(self.alive)
        yield "won", self._arrays["won"], Values(0, MAX_DUELS)
        yield "fought", self._arrays["fought"], Values(0, MAX_DUELS)

    @property
    def champion(self):
        """The arm with the best win rate among those left."""
        alive = self.alive
        return int(alive[((self._arrays["won"] + 1) / (self._arrays["fought"] + 2))[alive].argmax()])
