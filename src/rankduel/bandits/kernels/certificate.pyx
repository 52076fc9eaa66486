"""Certificates: one e-process per arm, valid for any choice of duels. docs/certified.md has the rule and its proof."""

import math

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from rankduel.bandits.elimination import Elimination
from rankduel.bandits.kernels.pair_table cimport MAX_WINS, PairTable, count_win, find, meeting_t, wins
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Shape, Values

cnp.import_array()


cdef class Eliminations:
    """Eliminated arms, with time and opponent. `gone` is 0, ELIMINATED or RETIRED. The owner stores the arrays."""

    def __init__(self, n_arms):
        self.arrays = {
            "gone": np.zeros(n_arms, np.uint8),
            "gone_at": np.zeros(n_arms, np.int64),
            "gone_by": np.zeros(n_arms, np.int32),
            "lead": np.zeros(n_arms, np.int32),
        }
        self.bind_arrays()

    def bind_arrays(self):
        """Update the pointers after the arrays were replaced or loaded."""
        self.n_arms = len(self.arrays["gone"])
        self.gone = <uint8_t *>cnp.PyArray_DATA(self.arrays["gone"])
        self.at = <int64_t *>cnp.PyArray_DATA(self.arrays["gone_at"])
        self.by = <int32_t *>cnp.PyArray_DATA(self.arrays["gone_by"])
        self.lead = <int32_t *>cnp.PyArray_DATA(self.arrays["lead"])

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays."""
        arrays, n = self.arrays, len(self.arrays["gone"])
        yield "gone", arrays["gone"], Values(0, RETIRED)
        yield "n_alive", bandit.n_alive, Equal(int((arrays["gone"] == 0).sum()))
        yield "gone_at", arrays["gone_at"], Values(0, MAX_DUELS)
        yield "gone_by", arrays["gone_by"], Values(0, n - 1)
        yield "lead", arrays["lead"], Values(1 - n, n - 1)
        if "evidence" in arrays:
            yield "evidence", arrays["evidence"], Values(0, 4e307)

    @property
    def alive(self):
        """The arms that are neither eliminated nor retired."""
        return np.flatnonzero(self.arrays["gone"] == 0)

    @property
    def retired(self):
        """The arms that an operator retired."""
        return np.flatnonzero(self.arrays["gone"] == RETIRED)

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil:
        self.gone[arm], self.at[arm], self.by[arm] = ELIMINATED, told, by

    def evidence_against(self, arm):
        """The natural logarithm of the evidence against an arm. None if the rule keeps no evidence."""
        return None

    def logarithms(self):
        """The natural logarithms of the evidence against all arms. None if the rule keeps no evidence."""
        return None

    def least_evidence(self):
        """The natural logarithm of the smallest evidence against any arm, including eliminated ones.

        This is the evidence against the hypothesis that there is a best arm.
        """
        return 0.0

    def leads(self):
        """Pairs won minus pairs lost, per arm."""
        return self.arrays["lead"].copy()

    def more_state(self):
        """Arrays that a snapshot stores in addition to `arrays`, by name."""
        return {}

    def load(self, arrays):
        """Restore the rest of the state after `arrays` were loaded."""
        self.bind_arrays()

    def listed(self):
        """All eliminations, in chronological order."""
        arms = np.flatnonzero(self.arrays["gone"] == ELIMINATED)
        arms = arms[np.argsort(self.arrays["gone_at"][arms], kind="stable")].tolist()
        return tuple(Elimination(arm, self.at[arm], self.by[arm], self.evidence_against(arm)) for arm in arms)


cdef class Certificate(Eliminations):
    """Evidence against each arm from all of its duels, and confidence sequences for pairs that may be even."""

    def __init__(self, n_arms, rule):
        super().__init__(n_arms)
        self.arrays["evidence"] = np.ones((n_arms, 4))
        self.rule = rule
        self.bind_arrays()

    def bind_arrays(self):
        """Update the pointers and the thresholds.

        With a tolerance, half of delta is for the evidence and half for the confidence sequences. All arms that share
        the first place must survive, and with n arms left these may be all n. So each arm gets delta / 2n.
        """
        super().bind_arrays()
        if "evidence" not in self.arrays:
            return
        self.evidence = <evidence_t *>cnp.PyArray_DATA(self.arrays["evidence"])
        delta, self.tolerance = self.rule.delta, self.rule.tolerance or 0
        self.enough, self.min_even_duels, self.left = 1 / delta, math.inf, len(self.alive)
        if self.tolerance:
            self.enough_per_arm = 2 / delta
            self.enough = self.enough_per_arm * self.left
            self.log_chances = math.log(max(1, self.n_arms * (self.n_arms - 1) / 2) * 2 / delta)
            self.scale = 1 / (8 * self.tolerance**2)
            low, high = 1.0, 1e18
            while high > 1.0001 * low:  # bisection for the n at which the radius falls to the tolerance
                middle = math.sqrt(low * high)
                low, high = (low, middle) if radius(self, middle) <= self.tolerance else (middle, high)
            self.min_even_duels = low

    def evidence_against(self, arm):
        """The natural logarithm of the evidence against an arm."""
        return math.log(max(self.arrays["evidence"][arm].mean(), 1e-300))

    def logarithms(self):
        """The natural logarithms of the evidence against all arms."""
        return np.log(np.maximum(self.arrays["evidence"].mean(1), 1e-300))

    def least_evidence(self):
        """The natural logarithm of the smallest evidence. Retired arms are left out, because theirs no longer grows."""
        kept = self.arrays["evidence"][self.arrays["gone"] != RETIRED]
        return math.log(max(kept.mean(1).min(), 1e-300))

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil:
        Eliminations.add(self, arm, by, told)
        self.left -= 1
        if self.tolerance > 0:
            self.enough = self.enough_per_arm * self.left


cdef class CountingCertificate(Certificate):
    """A certificate with its own table of pairs, for bandits that do not count wins per pair."""

    def __init__(self, n_arms, rule):
        super().__init__(n_arms, rule)
        self.pairs = PairTable()

    def leads(self):
        """Pairs won minus pairs lost, per arm, including pairs that the table has dropped."""
        cdef cnp.ndarray leads = super().leads()
        self.pairs.leads(<int32_t *>cnp.PyArray_DATA(leads))
        return leads

    def more_state(self):
        """The table of pairs."""
        return {"meetings": self.pairs.table()}

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules, with those for the table: rows of two arms i < j and their wins, sorted by arms."""
        yield from Certificate.snapshot_rules(self, bandit, stored)
        meetings, n = stored["meetings"], len(self.arrays["gone"])
        yield "meetings", meetings, Shape(np.int64, (None, 4))
        low, high = meetings[:, 0], meetings[:, 1]
        yield "meetings", low, Values(0, n - 1)
        yield "meetings", high, Values(low + 1, n - 1)
        yield "meetings", meetings[:, 2:], Values(0, <int64_t>MAX_WINS)
        pairs = low * n + high
        yield "meetings", pairs, Equal(np.unique(pairs))

    def load(self, arrays):
        """Restore the table of pairs."""
        super().load(arrays)
        self.pairs = PairTable()
        self.pairs.load(arrays["meetings"])

    cdef bint record_duel(self, int winner, int loser) except -1 nogil:
        """Record a duel as bets and count it. Return true if the evidence against the loser is now enough."""
        cdef meeting_t *meeting = self.pairs.find_or_insert(winner, loser, self.gone, self.lead)
        cdef int64_t won = wins(meeting, winner, loser), lost = wins(meeting, loser, winner)
        cdef bint enough = record_bets(self, winner, loser, won, lost, 0.5, EVEN_PRIOR_DUELS)
        count_win(meeting, winner, loser)
        return enough

    cdef bint has_evened(self, int i, int j) noexcept nogil:
        """Whether two arms are known to be within the tolerance."""
        cdef const meeting_t *meeting = find(self.pairs, i, j)
        return even(self, wins(meeting, i, j), wins(meeting, j, i))

    cdef bint all_even(self) noexcept nogil:
        """Whether several arms are left, and all pairs of them are known to be within the tolerance."""
        cdef int n = <int>self.n_arms, i, j, left = 0
        for i in range(n):
            if self.gone[i]:
                continue
            left += 1
            for j in range(i):
                if not self.gone[j] and not self.has_evened(i, j):
                    return False
        return left > 1
