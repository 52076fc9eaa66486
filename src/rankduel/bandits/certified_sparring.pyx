"""CertifiedSparring: ratings choose who meets, evidence decides who goes."""

import numpy as np

cimport cython
cimport numpy as cnp
from libc.math cimport exp, sqrt
from libc.stdint cimport int32_t, int64_t
from numpy.random.c_distributions cimport random_standard_normal

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.kernels.certificate cimport RETIRED, Referee, even, fetch_arms, hear
from rankduel.bandits.elimination import Certified
from rankduel.bandits.kernels.pair_table cimport count_win, fetch_meeting, find, meeting_t, wins
from rankduel.bandits.parameters import number, whole
from rankduel.bandits.kernels.sample_trees cimport NOBODY, Samples, best, best_but, fetch, fetch_seat, get, larger, put, smaller
from rankduel.bandits.snapshot_checks import COUNT, Equal, Values
from rankduel.randomness.draws cimport below, uniform

cnp.import_array()

cdef struct rated_t:
    double mean, variance  # of the arm's rating: p = 1 / (1 + exp(other - rating))
    double grudge  # lead^2 / n of its nemesis over it
    int64_t nemesis  # the opponent that has beaten it most clearly; -1: nobody has

cdef enum:
    REFRESHED = 2  # arms that get new samples at each duel, beside the last two that met
    SCANNED = 512  # arms left, at most, for a full search for a new nemesis
    OFTEN = 1000  # meetings of a pair after which it may be worn out
    EARLY = 4  # meetings of a pair that tell how far pairs stray from what ratings predict

cdef double PRIOR_SPREAD = 0.01, PRIOR_MEETINGS = 50  # of pairs around the prediction, and the weight of that prior
cdef double LEAST_TRUST = 1, MOST_TRUST = 2000
cdef double STRAY = 0.2  # what a rating may be wrong by because pairs stray, in units of 1 / trust
cdef double BOLDNESS = 0.25  # of the samples that opponents are compared by, in standard deviations
cdef double SURE_HARM = 0.01  # of every duel, beside what the two arms are estimated to cost

RATED = np.dtype([("mean", "f8"), ("variance", "f8"), ("grudge", "f8"), ("nemesis", "i8")])


cdef inline double harm(double odds) noexcept nogil:
    """How much worse than the champion an arm is, that has these odds against it."""
    return larger(0, 1 / (1 + odds) - 0.5)


@cython.final
cdef class CertifiedSparring(Bandit):
    """Find the Condorcet winner of any number of arms, and lose it with probability `delta` at most.

    Idea
        Every arm has a rating with an uncertainty, and two samples of it. The arm with the best first sample is the
        champion, the arm with the best second one the target: hard cases come first, and cost little. The target meets
        the champion, or its nemesis (who has beaten it most clearly), or an arm at random: whoever promises most evidence
        against the target per harm to users. How much a stranger promises is learnt, from how far pairs have strayed
        from what their ratings predict. Two arms that have met often without a leader make way, half the time, for an arm
        at random: so a winner that was unlucky at first is not forgotten while others spar. An arm goes when the evidence
        against it, which adds up over all opponents, reaches 1 / delta.

    Parameters
        n_arms: K, at least 1.
        delta: the chance to ever lose the Condorcet winner, at most; > 0 and <= 0.5.
        tolerance: arms end as tied once each two of those left are known to be within it, |p - 1/2| < tolerance; None:
            they go on. With it every tournament ends.
        seed: of the bandit's own random streams; None draws a fresh one.

    Cost
        O(log K) time per duel; memory O(K), and O(1) for each pair that met.

    Guarantee
        If given the past the Condorcet winner wins each of its duels with probability at least 1/2, it is eliminated with
        probability at most delta: at any time, for any K. With a tolerance, delta covers the tied set too: all that share
        the first place are in it.

    References
        The rule of elimination: Ville's inequality for one supermartingale per arm (docs/certified.md).
        Sui, Zhuang, Burdick, Yue: Multi-dueling bandits with dependent arms. UAI 2017: two samples that spar.
        Komiyama, Honda, Kashima, Nakagawa: Regret lower bound and optimal algorithm in dueling bandit problem. COLT 2015:
        evidence per harm.

    Deviations
        It is our own.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.CertifiedSparring(20, delta=0.05, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=1_000_000)
        >>> run.winner, run.converged_at < 20_000
        (0, True)
        >>> print(bandit.decision())  # doctest: +NORMALIZE_WHITESPACE
        The winner is arm 0. With probability 0.95 at least, at whatever time you look: if some arm is at least as good as
        each other one, it is arm 0.
    """

    cdef Referee referee
    cdef rated_t *rated
    cdef int32_t *arm_at  # of each seat; the first n_active seats are taken
    cdef int32_t *seat_of  # of each arm; -1: none, it is out or paused
    cdef Samples samples  # by seat: the first that choose the champion, the second that choose the target
    cdef int64_t *last  # the two arms that were told of last; -1: none
    cdef double *spread  # [sum, weight] of what pairs stray by, squared
    cdef double trust, stray  # of a prediction, in duels; and what a rating may be wrong by, squared
    cdef int n_active

    def __init__(self, n_arms, *, delta=0.01, tolerance=None, seed=None):
        rule = Certified(delta, tolerance)
        super().__init__(n_arms, seed=seed, delta=rule.delta, tolerance=rule.tolerance)
        self.referee = self.out = Referee(self.n_arms, rule)
        self._adopt("", self.referee)
        self.keep("rated", np.zeros(self.n_arms, RATED))
        self._arrays["rated"]["variance"], self._arrays["rated"]["nemesis"] = 1, -1
        self.keep("arm_at", np.arange(self.n_arms, dtype=np.int32))
        self.keep("seat_of", np.arange(self.n_arms, dtype=np.int32))
        self.keep("samples", np.zeros((2, self.n_arms)))
        self.keep("last", np.full(2, -1))
        self.keep("spread", np.zeros(2))
        self.n_active = self.n_arms
        self.settle()
        for seat in range(self.n_arms):
            self.sample(seat)

    cdef int settle(self) except -1:
        """Find the arrays, and put the samples into their trees."""
        arrays = self._arrays
        self.rated = <rated_t *>cnp.PyArray_DATA(arrays["rated"])
        self.arm_at = <int32_t *>cnp.PyArray_DATA(arrays["arm_at"])
        self.seat_of = <int32_t *>cnp.PyArray_DATA(arrays["seat_of"])
        self.last = <int64_t *>cnp.PyArray_DATA(arrays["last"])
        self.spread = <double *>cnp.PyArray_DATA(arrays["spread"])
        self.set_trust()
        self.samples = Samples(arrays["samples"], self.n_active)
        return 0

    # Who meets

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef int champion, target, k
        cdef int[REFRESHED + 1] seats  # of those that get new samples, and of the stranger
        if self.n_active < 2:
            duel.first = duel.second = self.arm_at[0] if self.n_active else self.any_alive()
            return 0
        for k in range(REFRESHED + 1):
            seats[k] = below(self.rng, self.n_active)
            fetch(&self.arm_at[seats[k]])
            fetch_seat(self.samples, seats[k])
        for k in range(2):
            if self.last[k] >= 0 and self.seat_of[self.last[k]] >= 0:
                self.sample(self.seat_of[self.last[k]])
        for k in range(REFRESHED + 1):
            fetch(&self.rated[self.arm_at[seats[k]]])
        for k in range(REFRESHED):
            self.sample(seats[k])
        k = best(self.samples, 0)
        champion, target = self.arm_at[k], self.arm_at[best_but(self.samples, 1, k)]
        fetch_meeting(self.referee.pairs, target, self.arm_at[seats[REFRESHED]])
        if self.n_active > 2 and self.worn_out(target, champion) and uniform(self.rng) < 0.5:
            target = self.arm_at[(k + 1 + below(self.rng, self.n_active - 1)) % self.n_active]
        k = self.opponent(target, champion, self.arm_at[seats[REFRESHED]])
        if k < 0:  # the target is even with all three
            self.uneven(&target, &k)
        fetch_arms(self.referee, target, k)
        fetch(&self.seat_of[target])
        fetch(&self.seat_of[k])
        duel.first, duel.second = target, k
        if uniform(self.rng) < 0.5:  # neither side is told from the other
            duel.first, duel.second = k, target
        return 0

    cdef bint worn_out(self, int i, int j) noexcept nogil:
        """Whether two arms have met often and neither leads: they would spar for ever, while a third may be the best."""
        cdef const meeting_t *meeting = find(self.referee.pairs, i, j)
        cdef double lead = wins(meeting, i, j) - wins(meeting, j, i), n = wins(meeting, i, j) + wins(meeting, j, i)
        return n > OFTEN and lead * lead < n

    cdef int opponent(self, int target, int champion, int stranger) noexcept nogil:
        """Who promises most evidence against the target per harm: champion, nemesis, or an arm at random. -1: nobody."""
        cdef int nemesis = <int>self.rated[target].nemesis, chosen = -1, k
        cdef int[3] candidates
        cdef double top = -1, worth, odds, cost, behind = self.odds(target, champion)
        candidates[0], candidates[1], candidates[2] = champion, nemesis, stranger
        for k in range(3):
            odds, cost = behind, harm(behind)
            if k:
                if candidates[k] < 0 or candidates[k] == target or self.seat_of[candidates[k]] < 0:
                    continue
                if candidates[k] == champion or k == 2 and stranger == nemesis:
                    continue
                odds = self.odds(target, candidates[k])
                cost += harm(behind / odds)
            worth = self.worth(target, candidates[k], odds, cost)
            if worth > top:
                top, chosen = worth, candidates[k]
        return chosen

    cdef double worth(self, int target, int other, double odds, double cost) noexcept nogil:
        """Sampled evidence per harm; -1 if the two are known to be even. `odds` are the target's, by their ratings."""
        cdef const meeting_t *meeting = find(self.referee.pairs, target, other)
        cdef double won = wins(meeting, target, other), lost = wins(meeting, other, target), weight, mean, chance, x
        if even(self.referee, won, lost):
            return -1
        weight = 2 * self.trust
        mean = smaller(larger(odds / (1 + odds), 0.01), 0.99)
        mean = (won + weight * mean) / (won + lost + weight)
        chance = mean + BOLDNESS * sqrt(mean * (1 - mean) / (won + lost + weight + 1)) * random_standard_normal(self.rng)
        if chance >= 0.5:
            return 0
        x = (1 - 2 * chance) * (1 - 2 * chance)
        x = x / 2 + x * x / 12 + x * x * x / 30  # KL(chance, 1/2), nearly
        return x / (cost / 2 + SURE_HARM)

    cdef double odds(self, int i, int j) noexcept nogil:
        """Of i against j, by their ratings."""
        return exp(self.rated[i].mean - self.rated[j].mean)

    cdef double predict(self, int i, int j) noexcept nogil:
        """The chance of i to win against j, by their ratings."""
        return 1 / (1 + self.odds(j, i))

    cdef void set_trust(self) noexcept nogil:
        """What a prediction is worth, in duels: Beta(2 trust p, 2 trust (1 - p)) spreads as pairs do around it."""
        cdef double spread = (self.spread[0] + PRIOR_SPREAD * PRIOR_MEETINGS) / (self.spread[1] + PRIOR_MEETINGS)
        self.trust = smaller(larger(0.125 / larger(spread, 1e-6) - 0.5, LEAST_TRUST), MOST_TRUST)
        self.stray = STRAY / self.trust

    cdef int uneven(self, int *target, int *other) noexcept nogil:
        """Two arms that are not known to be even: first of the target's pairs, then of all. The seats are gone through in
        turn from a random one."""
        cdef int start = below(self.rng, self.n_active), a, b, i, j
        for a in range(self.n_active + 1):
            i = target[0] if a == 0 else self.arm_at[a - 1]
            for b in range(self.n_active):
                j = self.arm_at[(start + b) % self.n_active]
                if j != i and not self.referee.has_evened(i, j):
                    target[0], other[0] = i, j
                    return 0
        other[0] = self.arm_at[0] if target[0] != self.arm_at[0] else self.arm_at[1]
        return 0

    cdef void sample(self, int seat) noexcept nogil:
        """Two new samples of the rating of whoever has that seat."""
        cdef const rated_t *arm = &self.rated[self.arm_at[seat]]
        cdef double deviation = sqrt(arm.variance + self.stray)
        put(self.samples, 0, seat, arm.mean + deviation * random_standard_normal(self.rng))
        put(self.samples, 1, seat, arm.mean + deviation * random_standard_normal(self.rng))

    # What is learnt

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        cdef meeting_t *meeting
        cdef double won, lost, expected
        cdef bint enough
        if outcome == TIE or winner == loser or self.referee.gone[winner] or self.referee.gone[loser]:
            return 0  # nothing to learn, or one of them went while this was on its way
        meeting = self.referee.pairs.meet(winner, loser, self.referee.gone, self.referee.lead)
        won, lost = wins(meeting, winner, loser), wins(meeting, loser, winner)
        expected = self.predict(winner, loser)
        enough = hear(self.referee, winner, loser, won, lost, expected, self.trust)
        if 0 < won + lost <= EARLY:
            self.spread[0] += (won - (won + lost) * expected) * (1 - expected)  # its mean is n (p - expected)^2
            self.spread[1] += won + lost
            self.set_trust()
        self.rate(winner, loser, expected)
        count_win(meeting, winner, loser)
        self.remember(loser, winner, won + 1, lost)
        self.remember(winner, loser, lost, won + 1)
        self.last[0], self.last[1] = winner, loser
        if enough and self.n_alive > 1:
            self.eliminate(loser, winner)
        elif even(self.referee, won + 1, lost):
            self.tied = self.referee.all_even()
        return 0

    cdef void rate(self, int winner, int loser, double expected) noexcept nogil:
        """One step of an extended Kalman filter for the logistic model."""
        cdef rated_t *x = &self.rated[winner]
        cdef rated_t *y = &self.rated[loser]
        cdef double information = expected * (1 - expected)
        cdef double total = 1 + information * (x.variance + y.variance)
        x.mean += x.variance * (1 - expected) / total
        y.mean -= y.variance * (1 - expected) / total
        x.variance -= x.variance * x.variance * information / total
        y.variance -= y.variance * y.variance * information / total

    cdef void remember(self, int arm, int other, double lost, double won) noexcept nogil:
        """Whether an opponent with this record is the nemesis of an arm."""
        cdef rated_t *x = &self.rated[arm]
        cdef double grudge = (lost - won) * (lost - won) / (lost + won) if lost > won else 0
        if other == x.nemesis:
            x.grudge = grudge
        elif grudge > x.grudge or (grudge > 0 and x.nemesis >= 0 and self.referee.gone[x.nemesis]):
            x.nemesis, x.grudge = other, grudge

    cdef int eliminate(self, int arm, int by) except -1 nogil:
        self.referee.out(arm, by, self.told)
        self.n_alive -= 1
        self.stand_up(arm)
        self.replace_nemesis(arm)
        if self.referee.tolerance > 0:
            self.tied = self.referee.all_even()
        return 0

    cdef void stand_up(self, int arm) noexcept nogil:
        """Free a seat; whoever has the last one takes it, with its samples."""
        cdef int seat = self.seat_of[arm], which, end = self.n_active - 1
        if seat < 0:
            return
        self.seat_of[arm], self.n_active = -1, end
        for which in range(2):
            put(self.samples, which, seat, get(self.samples, which, end))
            put(self.samples, which, end, NOBODY)
        if seat != end:
            self.arm_at[seat] = self.arm_at[end]
            self.seat_of[self.arm_at[seat]] = seat

    cdef void replace_nemesis(self, int gone) noexcept nogil:
        """Who has lost a nemesis gets the next one, where few enough are left to look for it."""
        cdef int a, b, i, j
        cdef const meeting_t *meeting
        if self.n_active > SCANNED:
            return
        for a in range(self.n_active):
            i = self.arm_at[a]
            if self.rated[i].nemesis == gone:
                self.rated[i].nemesis, self.rated[i].grudge = -1, 0
                for b in range(self.n_active):
                    j = self.arm_at[b]
                    meeting = NULL if i == j else find(self.referee.pairs, i, j)
                    if meeting != NULL:
                        self.remember(i, j, wins(meeting, j, i), wins(meeting, i, j))

    cdef int any_alive(self) noexcept nogil:
        cdef int arm = 0
        while self.referee.gone[arm]:
            arm += 1
        return arm

    @property
    def champion(self):
        """The arm left with the highest rating."""
        alive = self.alive
        return int(alive[self._arrays["rated"]["mean"][alive].argmax()])

    @property
    def meetings(self):
        """Rows of arm i, arm j > i, wins of i, wins of j, for the pairs that met; those of arms that are out may be gone."""
        return self.referee.pairs.table()

    # Arms come and go

    def add(self, n=1):
        """Add arms; their numbers follow. The promise then is for the best of all, each from its arrival on."""
        n = whole("n", n, minimum=1)
        first = self.n_arms
        self._gather()
        cdef CertifiedSparring empty = CertifiedSparring(n, delta=self.referee.rule.delta, tolerance=self.referee.rule.tolerance, seed=0)
        for name, array in self._arrays.items():
            if name in ("last", "spread"):
                continue
            more = np.concatenate([array, empty._arrays[name]], axis=array.ndim - 1 if name == "samples" else 0)
            self._arrays[name] = more
        for name in self.referee.arrays:
            self.referee.arrays[name] = self._arrays[name]
        self.n_arms += n
        self.n_alive += n
        self.tied = False
        self.referee.settle()
        self._arrays["arm_at"][first:] = 0
        self._arrays["seat_of"][first:] = -1
        self.settle()
        for arm in range(first, self.n_arms):
            self.sit_down(arm)
        return list(range(first, self.n_arms))

    cdef int sit_down(self, int arm) except -1:
        self.seat_of[arm], self.arm_at[self.n_active] = self.n_active, arm
        self.n_active += 1
        self.sample(self.n_active - 1)
        return 0

    def pause(self, arm):
        """Let an arm meet nobody until it is resumed. It stays in the race, and the promise as it is."""
        self.stand_up(self._arm_left(arm))

    def resume(self, arm):
        """Let a paused arm meet others again."""
        if self.seat_of[self._arm_left(arm)] < 0:
            self.sit_down(arm)

    def retire(self, arm):
        """Take an arm out for good. What was learnt in its duels stays: the promise is for an arm that is at least as good
        as each one it has met, the retired ones too."""
        self._arm_left(arm)
        if self.n_alive == 1:
            raise ValueError(f"arm {arm} is the last one left: it cannot be retired")
        self.referee.gone[arm] = RETIRED
        self.referee.at[arm] = self.told
        self.referee.settle()
        self.n_alive -= 1
        self.stand_up(arm)
        self.replace_nemesis(arm)
        if self.referee.tolerance > 0:
            self.tied = self.referee.all_even()

    def _arm_left(self, arm):
        if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < self.n_arms:
            raise ValueError(f"arm must be a number from 0 to {self.n_arms - 1}, got {arm!r}")
        if self.referee.gone[arm]:
            raise ValueError(f"arm {arm} is not in the race any more")
        return arm

    def warm_start(self, wins, *, weight=0.5, certify=False):
        """Begin with counts of an earlier tournament, or of an offline estimate: wins[i, j] of i over j.

        They set the ratings, believed by `weight`: 1 as if the duels had been played here, where a wrong start costs very
        much; near 0 hardly at all. The promise never depends on it. With `certify` the duels count as evidence too, which needs that they were duels of these
        very arms, all of them, and chosen without looking at what came after them. Only before the first duel.
        """
        counts = np.asarray(wins)
        weight = number("weight", weight, at_most=1)
        if self.asked or self.told:
            raise ValueError(f"a warm start comes before the first duel, and {self.asked} were asked for")
        if counts.shape != (self.n_arms, self.n_arms) or counts.dtype.kind not in "iu" or counts.min() < 0:
            raise ValueError(f"wins must be whole numbers of shape {(self.n_arms, self.n_arms)}, none below 0")
        winners, losers = np.nonzero(counts)
        order = self.random.permutation(np.repeat(np.arange(len(winners)), counts[winners, losers]))
        cdef int winner, loser
        for winner, loser in zip(winners[order].tolist(), losers[order].tolist(), strict=True):
            if winner == loser:
                continue
            if certify:
                self._tell_again(winner, loser)
            else:
                self.rate(winner, loser, self.predict(winner, loser))
        for winner in range(self.n_arms):
            self.rated[winner].mean *= weight
            self.rated[winner].variance = larger(self.rated[winner].variance, 1 - weight)
        for seat in range(self.n_active):
            self.sample(seat)

    def _tell_again(self, int winner, int loser):
        cdef duel_t duel
        duel.number, duel.first, duel.second = 0, winner, loser
        self.learn(&duel, FIRST)

    # Snapshots

    def _gather(self):
        """The samples from the leaves of their trees; seats that nobody has are 0."""
        cdef double[:, ::1] samples = self._arrays["samples"]
        cdef int which, seat
        for which in range(2):
            for seat in range(self.n_arms):
                samples[which, seat] = get(self.samples, which, seat) if seat < self.n_active else 0

    def _state(self):
        self._gather()
        return super()._state()

    def _snapshot_rules(self, stored):
        yield from Bandit._snapshot_rules(self, stored)
        arrays, top = self._arrays, self.n_arms - 1
        yield "rated.mean", arrays["rated"]["mean"], Values(-1e9, 1e9)
        yield "rated.variance", arrays["rated"]["variance"], Values(0, 1)
        yield "rated.grudge", arrays["rated"]["grudge"], Values(0, COUNT)
        yield "rated.nemesis", arrays["rated"]["nemesis"], Values(-1, top)
        yield "samples", arrays["samples"], Values(-1e12, 1e12)
        yield "last", arrays["last"], Values(-1, top)
        yield "spread", arrays["spread"], Values([-COUNT, 0], COUNT)
        arm_at, seat_of = arrays["arm_at"], arrays["seat_of"]
        yield "arm_at", arm_at, Values(0, top)
        yield "seat_of", seat_of, Values(-1, top)
        seated = np.flatnonzero(seat_of >= 0)  # the first seats, by arms that are in the race
        yield "seat_of", np.sort(seat_of[seated]), Equal(np.arange(len(seated)))
        yield "arm_at", arm_at[seat_of[seated]], Equal(seated)
        yield "gone", arrays["gone"][seated], Equal(0)

    def _load(self, arrays):
        super()._load(arrays)
        self.n_active = int((self._arrays["seat_of"] >= 0).sum())
        self.settle()

