"""CertifiedSparring: ratings choose the duels, a certificate eliminates arms."""

import numpy as np

cimport cython
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from numpy.random.c_distributions cimport random_standard_normal

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.elimination import Certified
from rankduel.bandits.kernels.active_arms cimport ActiveArms
from rankduel.bandits.kernels.certificate cimport RETIRED, CountingCertificate, even, prefetch_arms, record_bets
from rankduel.bandits.kernels.pair_table cimport count_win, find, meeting_t, prefetch_meeting, wins
from rankduel.bandits.kernels.ratings cimport Ratings, harm, odds, predict, rating_t, update_nemesis, update_ratings
from rankduel.bandits.kernels.sample_trees cimport best, best_but, larger, prefetch, prefetch_slot, put, smaller
from rankduel.bandits.parameters import number, whole
from rankduel.bandits.snapshot_checks import Values
from rankduel.randomness.draws cimport below, uniform

cdef enum:
    RESAMPLED_ARMS = 2  # arms that get new samples at each duel, in addition to the last two that met
    MAX_SCANNED_ARMS = 512  # search all pairs for a new nemesis only while at most this number of arms is left
    STALEMATE_DUELS = 1000  # duels of a pair without a leader, after which a random arm may replace the target
    EARLY_DUELS = 4  # first duels of a pair, which measure how far pairs deviate from the prediction of the ratings

cdef double SAMPLED_DEVIATIONS = 0.25  # standard deviations of noise in the comparison of opponents
cdef double BASE_HARM = 0.01  # harm of every duel, in addition to the estimated harm of the two arms


@cython.final
cdef class CertifiedSparring(Bandit):
    """Find the Condorcet winner of any number of arms, and eliminate it with probability at most `delta`.

    Idea
        Use it when you need a guaranteed answer, for a few arms or for a million. Every arm has a rating with an
        uncertainty, and two random samples of this rating. The arm with the best first sample is the champion. The arm
        with the best second sample, other than the champion, is the target. So the arms that are hardest to tell apart
        meet first, and these duels cost your users little. The opponent of the target is the champion, the target's
        nemesis (the arm that has beaten it most clearly) or a random arm. The bandit takes the one with the most
        expected evidence against the target per harm to users. For a pair that has met rarely, the expectation comes
        from the ratings. Its weight is learnt from how far other pairs deviated from their prediction. If target and
        champion have met often and neither leads, a random arm replaces the target half of the time. This way, a winner
        that lost its first duels is not neglected. The evidence against an arm accumulates over all of its opponents.
        The arm is eliminated when it reaches 1 / delta.

    Parameters
        n_arms: K, at least 1.
        delta: the largest probability that the Condorcet winner is ever eliminated, > 0 and <= 0.5. Set it to 0.01 for
            99 % confidence.
        tolerance: set it if some of your arms may be equally good. The bandit stops with a tie when all pairs of arms
            left are known to have |p - 1/2| < tolerance. With None, equal arms are compared without end.
        seed: the seed of the bandit's random streams. None draws a fresh one.

    Cost
        O(log K) time per duel. O(K) memory, and O(1) for each pair that met.

    Guarantee
        Assume that one arm is at least as good as all others (a Condorcet winner, ties allowed): given the past, it
        wins each of its duels with probability at least 1/2. Then it is eliminated with probability at most delta, over
        the whole run and for any K. Independent outcomes with preferences that do not change are enough for the
        assumption. With a tolerance, delta covers the tied set too: all arms that share the first place are in it.

    References
        Elimination rule: Ville's inequality for one supermartingale per arm (docs/certified.md).
        Sui, Zhuang, Burdick, Yue: Multi-dueling bandits with dependent arms. UAI 2017: two samples per arm.
        Komiyama, Honda, Kashima, Nakagawa: Regret lower bound and optimal algorithm in dueling bandit problem.
        COLT 2015: evidence per harm.

    Deviations
        None. This algorithm is defined here.

    Examples
        >>> import rankduel as rd
        >>> bandit = rd.CertifiedSparring(20, delta=0.05, seed=1)
        >>> run = rd.simulate(bandit, rd.problems.cycle2(), horizon=1_000_000)
        >>> run.winner, run.converged_at < 20_000
        (0, True)
        >>> print(bandit.decision())  # doctest: +NORMALIZE_WHITESPACE +ELLIPSIS
        Arm 0 is the best of 20 arms, with at least 95 % confidence (... duels).
        The confidence holds whenever you look, provided that one arm is at least as good as all others, votes are
        independent and preferences do not change.
    """

    cdef CountingCertificate certificate
    cdef Ratings ratings
    cdef ActiveArms active
    cdef int64_t *last  # the two arms of the last outcome that was learnt, or -1

    def __init__(self, n_arms, *, delta=0.01, tolerance=None, seed=None):
        rule = Certified(delta, tolerance)
        super().__init__(n_arms, seed=seed, delta=rule.delta, tolerance=rule.tolerance)
        self.certificate = self.eliminations = CountingCertificate(self.n_arms, rule)
        self._adopt("", self.certificate)
        self.ratings, self.active = Ratings(self.n_arms), ActiveArms(self.n_arms)
        self._adopt("", self.ratings)
        self._adopt("", self.active)
        self.last = <int64_t *>self.array("last", 2)
        self.last[0] = self.last[1] = -1
        for slot in range(self.n_arms):
            self.sample(slot)

    # Choice of the duel

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef int champion, target, k
        cdef int[RESAMPLED_ARMS + 1] slots  # the arms that get new samples, then the random opponent
        if self.active.n < 2:
            duel.first = duel.second = self.active.arm_at[0] if self.active.n else self.any_alive()
            return 0
        for k in range(RESAMPLED_ARMS + 1):
            slots[k] = below(self.rng, self.active.n)
            prefetch(&self.active.arm_at[slots[k]])
            prefetch_slot(self.active.samples, slots[k])
        for k in range(2):
            if self.last[k] >= 0 and self.active.slot_of[self.last[k]] >= 0:
                self.sample(self.active.slot_of[self.last[k]])
        for k in range(RESAMPLED_ARMS + 1):
            prefetch(&self.ratings.arms[self.active.arm_at[slots[k]]])
        for k in range(RESAMPLED_ARMS):
            self.sample(slots[k])
        k = best(self.active.samples, 0)
        champion, target = self.active.arm_at[k], self.active.arm_at[best_but(self.active.samples, 1, k)]
        prefetch_meeting(self.certificate.pairs, target, self.active.arm_at[slots[RESAMPLED_ARMS]])
        if self.active.n > 2 and self.is_stalemate(target, champion) and uniform(self.rng) < 0.5:
            target = self.active.arm_at[(k + 1 + below(self.rng, self.active.n - 1)) % self.active.n]
        k = self.opponent(target, champion, self.active.arm_at[slots[RESAMPLED_ARMS]])
        if k < 0:  # the target is known to be even with all three
            self.find_undecided(&target, &k)
        prefetch_arms(self.certificate, target, k)
        prefetch(&self.active.slot_of[target])
        prefetch(&self.active.slot_of[k])
        duel.first, duel.second = target, k
        if uniform(self.rng) < 0.5:  # a coin flip, so that the side says nothing about the role
            duel.first, duel.second = k, target
        return 0

    cdef bint is_stalemate(self, int i, int j) noexcept nogil:
        """Whether two arms have met often and neither leads. They could meet forever while a third arm is the best."""
        cdef const meeting_t *meeting = find(self.certificate.pairs, i, j)
        cdef double lead = wins(meeting, i, j) - wins(meeting, j, i), n = wins(meeting, i, j) + wins(meeting, j, i)
        return n > STALEMATE_DUELS and lead * lead < n

    cdef int opponent(self, int target, int champion, int random_arm) noexcept nogil:
        """The opponent with the most sampled evidence against the target per harm: champion, nemesis or a random arm.

        -1 if the target is known to be even with all of them.
        """
        cdef int nemesis = <int>self.ratings.arms[target].nemesis, chosen = -1, k
        cdef int[3] candidates
        cdef double top = -1, worth, target_odds, cost, behind = odds(self.ratings, target, champion)
        candidates[0], candidates[1], candidates[2] = champion, nemesis, random_arm
        for k in range(3):
            target_odds, cost = behind, harm(behind)
            if k:
                if candidates[k] < 0 or candidates[k] == target or self.active.slot_of[candidates[k]] < 0:
                    continue
                if candidates[k] == champion or k == 2 and random_arm == nemesis:
                    continue
                target_odds = odds(self.ratings, target, candidates[k])
                cost += harm(behind / target_odds)
            worth = self.worth(target, candidates[k], target_odds, cost)
            if worth > top:
                top, chosen = worth, candidates[k]
        return chosen

    cdef double worth(self, int target, int other, double target_odds, double cost) noexcept nogil:
        """Sampled evidence against the target per harm, or -1 if the two arms are known to be even."""
        cdef const meeting_t *meeting = find(self.certificate.pairs, target, other)
        cdef double won = wins(meeting, target, other), lost = wins(meeting, other, target), weight, mean, chance, x
        if even(self.certificate, won, lost):
            return -1
        weight = 2 * self.ratings.trust
        mean = smaller(larger(target_odds / (1 + target_odds), 0.01), 0.99)
        mean = (won + weight * mean) / (won + lost + weight)
        chance = mean + SAMPLED_DEVIATIONS * sqrt(mean * (1 - mean) / (won + lost + weight + 1)) * random_standard_normal(self.rng)
        if chance >= 0.5:
            return 0
        x = (1 - 2 * chance) * (1 - 2 * chance)
        x = x / 2 + x * x / 12 + x * x * x / 30  # KL(chance, 1/2), by the first terms of its series
        return x / (cost / 2 + BASE_HARM)

    cdef int find_undecided(self, int *target, int *other) noexcept nogil:
        """Find two arms that are not known to be even: first among the target's pairs, then among all pairs.

        Opponents are scanned from a random slot on.
        """
        cdef int start = below(self.rng, self.active.n), a, b, i, j
        for a in range(self.active.n + 1):
            i = target[0] if a == 0 else self.active.arm_at[a - 1]
            for b in range(self.active.n):
                j = self.active.arm_at[(start + b) % self.active.n]
                if j != i and not self.certificate.has_evened(i, j):
                    target[0], other[0] = i, j
                    return 0
        other[0] = self.active.arm_at[0] if target[0] != self.active.arm_at[0] else self.active.arm_at[1]
        return 0

    cdef void sample(self, int slot) noexcept nogil:
        """Draw two new samples of the rating of the arm in a slot."""
        cdef const rating_t *arm = &self.ratings.arms[self.active.arm_at[slot]]
        cdef double deviation = sqrt(arm.variance + self.ratings.model_variance)
        put(self.active.samples, 0, slot, arm.mean + deviation * random_standard_normal(self.rng))
        put(self.active.samples, 1, slot, arm.mean + deviation * random_standard_normal(self.rng))

    # Learning from outcomes

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        cdef meeting_t *meeting
        cdef double won, lost, expected
        cdef bint enough
        if outcome == TIE or winner == loser or self.certificate.gone[winner] or self.certificate.gone[loser]:
            return 0  # nothing to learn, or an arm was eliminated while the outcome was pending
        meeting = self.certificate.pairs.find_or_insert(winner, loser, self.certificate.gone, self.certificate.lead)
        won, lost = wins(meeting, winner, loser), wins(meeting, loser, winner)
        expected = predict(self.ratings, winner, loser)
        enough = record_bets(self.certificate, winner, loser, won, lost, expected, self.ratings.trust)
        if 0 < won + lost <= EARLY_DUELS:
            self.ratings.record_deviation(won, lost, expected)
        update_ratings(self.ratings, winner, loser, expected)
        count_win(meeting, winner, loser)
        update_nemesis(self.ratings, self.certificate.gone, loser, winner, won + 1, lost)
        update_nemesis(self.ratings, self.certificate.gone, winner, loser, lost, won + 1)
        self.last[0], self.last[1] = winner, loser
        if enough and self.n_alive > 1:
            self.eliminate(loser, winner)
        elif even(self.certificate, won + 1, lost):
            self.tied = self.certificate.all_even()
        return 0

    cdef int eliminate(self, int arm, int by) except -1 nogil:
        self.certificate.add(arm, by, self.told)
        self.n_alive -= 1
        self.active.remove(arm)
        self.replace_nemesis(arm)
        if self.certificate.tolerance > 0:
            self.tied = self.certificate.all_even()
        return 0

    cdef void replace_nemesis(self, int gone) noexcept nogil:
        """Find a new nemesis for all arms that had the eliminated one, if few enough arms are left for a scan."""
        cdef int a, b, i, j
        cdef const meeting_t *meeting
        if self.active.n > MAX_SCANNED_ARMS:
            return
        for a in range(self.active.n):
            i = self.active.arm_at[a]
            if self.ratings.arms[i].nemesis == gone:
                self.ratings.arms[i].nemesis, self.ratings.arms[i].nemesis_score = -1, 0
                for b in range(self.active.n):
                    j = self.active.arm_at[b]
                    meeting = NULL if i == j else find(self.certificate.pairs, i, j)
                    if meeting != NULL:
                        update_nemesis(self.ratings, self.certificate.gone, i, j, wins(meeting, j, i), wins(meeting, i, j))

    cdef int any_alive(self) noexcept nogil:
        cdef int arm = 0
        while self.certificate.gone[arm]:
            arm += 1
        return arm

    @property
    def champion(self):
        """The arm with the highest rating among those left."""
        alive = self.alive
        return int(alive[self._arrays["rated"]["mean"][alive].argmax()])

    @property
    def meetings(self):
        """Rows of arm i, arm j > i, wins of i and wins of j, for all pairs that met.

        Pairs of eliminated arms may be missing, because the table drops them when it grows.
        """
        return self.certificate.pairs.table()

    # Adding, pausing and retiring arms

    def add(self, n=1):
        """Add `n` arms while the bandit runs, and return their numbers, which continue the existing ones.

        The guarantee then is for the best of all arms. It covers the duels of an arm since you added it.
        """
        n = whole("n", n, minimum=1)
        first = self.n_arms
        self.active.store_samples()
        cdef CertifiedSparring more = CertifiedSparring(
            n, delta=self.certificate.rule.delta, tolerance=self.certificate.rule.tolerance, seed=0
        )
        for name, array in self._arrays.items():
            if name not in ("last", "spread"):
                self._arrays[name] = np.concatenate([array, more._arrays[name]], axis=1 if name == "samples" else 0)
        self._arrays["arm_at"][first:] = 0
        self._arrays["seat_of"][first:] = -1
        self.n_arms += n
        self.n_alive += n
        self.tied = False
        for prefix, part in self._parts:
            part.arrays.update({name: self._arrays[prefix + name] for name in part.arrays})
            part.bind_arrays()
        for arm in range(first, self.n_arms):
            self.activate(arm)
        return list(range(first, self.n_arms))

    cdef int activate(self, int arm) except -1:
        self.active.insert(arm)
        self.sample(self.active.n - 1)
        return 0

    def pause(self, arm):
        """Choose no duels for an arm until you resume it. It is not eliminated, and the guarantee stays the same."""
        self.active.remove(self._arm_left(arm))

    def resume(self, arm):
        """Choose duels for a paused arm again."""
        if self.active.slot_of[self._arm_left(arm)] < 0:
            self.activate(arm)

    def retire(self, arm):
        """Remove an arm for good.

        The evidence from its duels stays. So the guarantee is for an arm that is at least as good as all arms it has
        met, including the retired ones.
        """
        self._arm_left(arm)
        if self.n_alive == 1:
            raise ValueError(f"cannot retire arm {arm}: it is the last arm left")
        self.certificate.gone[arm] = RETIRED
        self.certificate.at[arm] = self.told
        self.certificate.bind_arrays()
        self.n_alive -= 1
        self.active.remove(arm)
        self.replace_nemesis(arm)
        if self.certificate.tolerance > 0:
            self.tied = self.certificate.all_even()

    def _arm_left(self, arm):
        if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < self.n_arms:
            raise ValueError(f"arm must be a number from 0 to {self.n_arms - 1}, got {arm!r}")
        if self.certificate.gone[arm]:
            raise ValueError(f"arm {arm} is already eliminated or retired")
        return arm

    def warm_start(self, wins, *, weight=0.5, certify=False):
        """Start from the counts of an earlier tournament or an offline estimate: wins[i, j] of arm i over arm j.

        Call it before the first duel. The counts set the ratings. Set `weight` near 1 if you trust them like duels of
        this bandit, where a wrong start costs many duels. Near 0 they have little effect. The guarantee does not depend
        on it.

        With `certify=True` the counts are evidence too. Use this only if they are the complete outcomes of real duels
        between these same arms, each chosen without knowledge of later outcomes.
        """
        counts = np.asarray(wins)
        weight = number("weight", weight, at_most=1)
        if self.asked or self.told:
            raise ValueError(f"warm_start() must come before the first duel, but {self.asked} were already asked for")
        if counts.shape != (self.n_arms, self.n_arms) or counts.dtype.kind not in "iu" or counts.min() < 0:
            found = f"{counts.dtype} with shape {counts.shape}"
            if counts.dtype.kind == "i" and counts.size and counts.min() < 0:
                found += f" and the negative number {counts.min()}"
            raise ValueError(
                f"wins must be a matrix of whole numbers >= 0 with shape {(self.n_arms, self.n_arms)}, got {found}"
            )
        winners, losers = np.nonzero(counts)
        order = self.random.permutation(np.repeat(np.arange(len(winners)), counts[winners, losers]))
        cdef int winner, loser
        for winner, loser in zip(winners[order].tolist(), losers[order].tolist(), strict=True):
            if winner == loser:
                continue
            if certify:
                self._tell_again(winner, loser)
            else:
                update_ratings(self.ratings, winner, loser, predict(self.ratings, winner, loser))
        for winner in range(self.n_arms):
            self.ratings.arms[winner].mean *= weight
            self.ratings.arms[winner].variance = larger(self.ratings.arms[winner].variance, 1 - weight)
        for slot in range(self.active.n):
            self.sample(slot)

    def _tell_again(self, int winner, int loser):
        cdef duel_t duel
        duel.number, duel.first, duel.second = 0, winner, loser
        self.learn(&duel, FIRST)

    # Snapshots

    def _state(self):
        self.active.store_samples()
        return super()._state()

    def _snapshot_rules(self, stored):
        yield from Bandit._snapshot_rules(self, stored)
        yield "last", self._arrays["last"], Values(-1, self.n_arms - 1)

    def _load(self, arrays):
        super()._load(arrays)
        self.ratings.bind_arrays()
        self.active.bind_arrays()
