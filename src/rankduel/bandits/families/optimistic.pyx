"""`Optimistic`: upper confidence bounds of all pairs, stored as one bit per pair, u_ij < 1/2 (DTS, RUCB)."""

import numpy as np

from libc.math cimport INFINITY, fmin, log

from rankduel.bandits.base cimport FIRST, TIE, duel_t, outcome_t
from rankduel.bandits.families.eliminating cimport Eliminating
from rankduel.bandits.parameters import number
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values


cdef class Optimistic(Eliminating):
    """Upper confidence bounds u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij) of all pairs.

    Only the bit u_ij < 1/2 is stored. It changes when the pair is played, or when log t passes its `turn`,
    (n_ij / 2 - w_ij)^2 / (alpha n_ij). So most duels update one pair.
    """

    def __init__(self, n_arms, *, seed, alpha, **parameters):
        super().__init__(n_arms, seed=seed, alpha=number("alpha", alpha), **parameters)
        cdef int n = self.n_arms
        self.alpha = alpha
        self.wins = <double *>self.array("wins", (n, n), np.float64)
        self.behind = <uint8_t *>self.array("behind", (n, n), np.uint8)
        self.turn = <double *>self.array("turn", (n, n), np.float64)
        self.row_turn = <double *>self.array("row_turn", n, np.float64)
        self.next_turn = <double *>self.array("next_turn", 1, np.float64)
        self.n_behind = <int64_t *>self.array("n_behind", n)
        self._arrays["row_turn"][:] = np.inf
        self.next_turn[0] = INFINITY

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef double log_t = log(self.told + 1)  # t of the next duel
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        if outcome != TIE and winner != loser:
            self.count(winner, loser)
            self.update_bound(winner, loser, log_t)
            self.update_bound(loser, winner, log_t)
        if log_t >= self.next_turn[0]:
            self.catch_up(log_t)
        return 0

    cdef void count(self, int winner, int loser) noexcept nogil:
        """Add a win. Subclasses override this to update their own records of the pair."""
        self.wins[<size_t>winner * self.n_arms + loser] += 1

    cdef void update_bound(self, int i, int j, double log_t) noexcept nogil:
        """Update the bit u_ij < 1/2, and the time when it will change."""
        cdef size_t ij = <size_t>i * self.n_arms + j
        cdef double w = self.wins[ij], n = w + self.wins[<size_t>j * self.n_arms + i], margin = n / 2 - w
        cdef bint behind = margin > 0 and margin * margin > self.alpha * n * log_t
        self.n_behind[i] += behind - self.behind[ij]
        self.behind[ij] = behind
        if behind:
            self.turn[ij] = margin * margin / (self.alpha * n)
            self.row_turn[i] = fmin(self.row_turn[i], self.turn[ij])
            self.next_turn[0] = fmin(self.next_turn[0], self.turn[ij])

    cdef void catch_up(self, double log_t) noexcept nogil:
        """Update the bounds that have reached 1/2 because t has grown."""
        cdef int n = self.n_arms, i, j
        cdef size_t ij
        self.next_turn[0] = INFINITY
        for i in range(n):
            if self.row_turn[i] <= log_t:
                self.row_turn[i] = INFINITY
                for j in range(n):
                    ij = <size_t>i * n + j
                    if self.behind[ij]:
                        if self.turn[ij] <= log_t:
                            self.behind[ij] = 0
                            self.n_behind[i] -= 1
                        else:
                            self.row_turn[i] = fmin(self.row_turn[i], self.turn[ij])
            self.next_turn[0] = fmin(self.next_turn[0], self.row_turn[i])

    def _snapshot_rules(self, stored):
        yield from Eliminating._snapshot_rules(self, stored)
        arrays = self._arrays
        yield "wins", arrays["wins"], Values(0, MAX_DUELS, whole=True)
        yield "wins", arrays["wins"].diagonal(), Equal(0)
        yield "behind", arrays["behind"], Values(0, 1)
        n_behind = np.full(self.n_arms, 2 * self.n_arms)  # the value for an eliminated arm
        n_behind[self.alive] = arrays["behind"].sum(1)[self.alive]
        yield "n_behind", arrays["n_behind"], Equal(n_behind)
        for turn in ("turn", "row_turn", "next_turn"):
            yield turn, arrays[turn], Values(0, INFINITY)

    @property
    def champion(self):
        """The arm left that leads against the most others so far. The win rate breaks ties."""
        alive = self.alive
        wins = self._arrays["wins"]
        played = wins.sum(1) + wins.sum(0)
        rate = (wins.sum(1) + 1) / (played + 2)
        return int(alive[np.lexsort((rate[alive], (wins > wins.T).sum(1)[alive]))[-1]])
