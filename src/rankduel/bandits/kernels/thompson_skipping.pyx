"""Thompson sampling over single arms that skips draws that the leader wins for sure, for SelfSparring.

Late in a run one arm, the leader, wins nearly every draw, because a level separates its posterior from the others. If
no other arm draws above that level and the leader does not draw below it, the leader wins, and the values do not
matter. The tree of rates (`thompson.pyx`) is therefore built for that level, with the rate at which the leader draws
below it. The time until the next arrival is stored, and draws until then cost nothing. At an arrival, the value is
proposed from the curve and accepted with probability density / curve, so that the distribution is exactly the same as
with plain draws.

Meanwhile the leader meets itself, and gets a win and a loss each time. The bound on its probability to draw below the
level holds for all posteriors until its a + b has grown by 1/32.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, exp, expm1, fmax, fmin, sqrt
from numpy.random.c_distributions cimport random_beta, random_standard_exponential

from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values
from rankduel.bandits.kernels.thompson cimport Thompson, posterior_t
from rankduel.randomness.arrivals cimport arrival_rate, arrival_wait, arrivals_in_tree
from rankduel.randomness.beta cimport beta_chance_above, beta_curve, beta_keep, beta_t, beta_value_above, slack
from rankduel.randomness.sum_tree cimport tree_build, tree_change

cnp.import_array()

cdef enum:
    WAIT = 0  # -1 if it must be drawn
    UNTIL = 1

cdef double LEVEL_DEVIATIONS = 4  # standard deviations from the leader's mean down to the level
cdef double MAX_EVENTS_TO_START = 0.5, MAX_EVENTS_TO_CONTINUE = 1  # expected events per draw, to start or continue
cdef int RESULTS_BETWEEN_ATTEMPTS = 512  # results between two attempts to find a leader


cdef class SkippingThompson(Thompson):
    """Has the distribution of `Thompson`. Report a duel of an arm with itself by `learn_self`."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.arrays |= {"calm": np.zeros(2), "leader": np.full(1, -1)}
        self.skip_state = <double *>cnp.PyArray_DATA(self.arrays["calm"])
        self.leader = <int64_t *>cnp.PyArray_DATA(self.arrays["leader"])

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules. If there is a leader, it must be below the level with small probability."""
        arrays, leader = self.arrays, self.arrays["leader"]
        yield "leader", leader, Values(-1, self.n - 1)
        yield "calm", arrays["calm"][WAIT], Values(0, INFINITY, markers=(-1,))
        yield "calm", arrays["calm"][UNTIL], Values(0, 4 * MAX_DUELS)
        yield from Thompson.snapshot_rules(self, bandit, stored)
        if leader[0] >= 0:
            yield "weights", arrays["weights"], Equal(0)
            if self.fitted[0]:
                yield "calm", arrays["calm"][UNTIL], Values(arrays["arms"][leader[0]].sum(), 4 * MAX_DUELS)
                yield "level, as the leader's chance to be below it,", self.chance_below(), Values(0, 0.6)

    def rates(self):
        """The rates of `Thompson`, or with a leader the rates of the events.

        The leader's own rate is taken from the tree, because it was computed from an earlier posterior.
        """
        cdef int i
        if self.leader[0] < 0:
            return Thompson.rates(self)
        rates = np.array([arrival_rate(self.chance(i)) for i in range(self.n)])
        rates[self.leader[0]] = self.tree[self.size + self.leader[0]]
        return rates

    cdef int draw(self, bitgen_t *rng) noexcept nogil:
        if not self.fitted[0]:
            self.fit()
        if self.leader[0] < 0:
            return self.draw_but(rng, -1)
        if self.skip_state[WAIT] < 0:
            self.skip_state[WAIT] = arrival_wait(rng, self.tree[1])
        if self.skip_state[WAIT] < 1:
            return self.decide(rng)
        self.skip_state[WAIT] -= 1
        return <int>self.leader[0]

    cdef void learn_self(self, int arm) noexcept nogil:
        """Learn from a duel of an arm with itself. For the leader, the rates stay valid up to `UNTIL`."""
        cdef posterior_t *x = &self.arms[arm]
        if arm != self.leader[0] or not self.fitted[0] or x.a + x.b + 2 > self.skip_state[UNTIL]:
            self.learn(arm, True)
            self.learn(arm, False)
            return
        x.a += 1
        x.b += 1
        self.learnt[0] += 2

    cdef void update_rate(self, int arm) noexcept nogil:
        cdef const posterior_t *x
        cdef double chance
        if self.leader[0] < 0:
            Thompson.update_rate(self, arm)
            if self.learnt[0] % RESULTS_BETWEEN_ATTEMPTS == 0 and self.n_sure[0] == 1 and self.tree[1] < MAX_EVENTS_TO_START:
                self.fitted[0] = 0
            return
        x = &self.arms[self.leader[0]]
        chance = self.chance(arm)
        self.skip_state[WAIT] = -1
        if chance <= 0.5:
            tree_change(self.tree, self.size, arm, arrival_rate(chance))
        self.fitted[0] = chance <= 0.5 and self.tree[1] <= MAX_EVENTS_TO_CONTINUE and x.a + x.b <= self.skip_state[UNTIL]

    cdef void fit(self) noexcept nogil:
        """Rebuild the tree for the leader if it still qualifies. Otherwise fit a level, and look for a new leader."""
        cdef const posterior_t *x = &self.arms[max(self.leader[0], 0)]
        if self.leader[0] >= 0 and x.a + x.b <= self.skip_state[UNTIL] and self.build_skip_tree(MAX_EVENTS_TO_CONTINUE):
            return
        self.leader[0] = -1
        Thompson.fit(self)
        if self.n_sure[0] == 1 and self.tree[1] < MAX_EVENTS_TO_START:
            self.try_leader()

    cdef void try_leader(self) noexcept nogil:
        """Make the only sure arm the leader, with a lower level. If events are too frequent, restore the old level."""
        cdef const posterior_t *x = &self.arms[self.sure[0]]
        cdef double before = self.level[0], a = x.a, b = x.b, more = (a + b) / 64  # future wins, and as many losses
        self.leader[0] = self.sure[0]
        self.skip_state[UNTIL] = a + b + 2 * more
        self.level[0] = fmin(
            a / (a + b) - LEVEL_DEVIATIONS * 0.5 / sqrt(a + b),
            (a + more) / self.skip_state[UNTIL] - LEVEL_DEVIATIONS * 0.5 / sqrt(self.skip_state[UNTIL]),
        )
        if self.level[0] <= 0 or not self.build_skip_tree(MAX_EVENTS_TO_START):
            self.leader[0] = -1
            self.level[0] = before
            self.rebuild()

    cdef double chance(self, int arm) noexcept nogil:
        """An upper bound of the probability of an event: the leader below the level, or another arm above it."""
        if arm == self.leader[0]:
            return self.chance_below()
        return beta_chance_above(self.arms[arm].a, self.arms[arm].b, self.level[0])

    cdef bint build_skip_tree(self, double most) noexcept nogil:
        """Compute the rates of all events. Return false if events are too frequent."""
        cdef double chance
        cdef int i
        self.n_sure[0] = 0
        for i in range(self.n):
            self.weights[i] = 0
            chance = self.chance(i)
            if chance > 0.5:
                return False
            self.tree[self.size + i] = arrival_rate(chance)
        tree_build(self.tree, self.size)
        self.skip_state[WAIT] = -1
        self.fitted[0] = 1
        return self.tree[1] <= most

    cdef double chance_below(self) noexcept nogil:
        """An upper bound of the probability that the leader draws below the level, up to `UNTIL`.

        It holds after any number n of additional wins and as many losses. With mode m and N = a + b - 2, the mass of
        the curve is (1/2 + 1/2N) sqrt(slack) sqrt(2/pi) exp(-g^2 / 2) / g, where g = (m - level) / width is at least
        h = (m - level) sqrt(D N). D is the smallest curvature of the log density on that side, in units of N. As m
        moves towards 1/2, slack falls and D grows, so both are taken at n = 0. As a function of n,
        h = sqrt(D) (N (m - level) + n (1 - 2 level)) / sqrt(N + 2 n) is smallest at an end or where its slope is 0.
        """
        cdef const posterior_t *x = &self.arms[self.leader[0]]
        cdef double level = self.level[0], n = x.a + x.b - 2, m = (x.a - 1) / n, rise = 1 - 2 * level, wider, bend
        cdef double above = n * (m - level), most = fmax(0, (self.skip_state[UNTIL] - x.a - x.b) / 2), least, turn
        if x.a < 2 or x.b < 2 or not 0.1 <= m <= 0.9 or above <= 0:
            return 1
        wider = slack(1 - m)
        bend = fmin(4, 1 / (m * (1 - m) * wider))
        least = fmin(above / sqrt(n), (above + most * rise) / sqrt(n + 2 * most))
        if rise > 0:
            turn = above / rise - n
            if 0 < turn < most:
                least = fmin(least, (above + turn * rise) / sqrt(n + 2 * turn))
        least *= sqrt(bend)
        if least < 2:
            return 1
        return (0.5 + 0.5 / n) * sqrt(wider) * 0.7978845608028654 * exp(-least * least / 2) / least

    cdef int decide(self, bitgen_t *rng) noexcept nogil:
        """The winner of a draw in which at least one event arrives."""
        cdef int leader = <int>self.leader[0], n_events, k, arm, chosen = leader
        cdef double best = self.level[0], value
        cdef bint low = False
        n_events = arrivals_in_tree(rng, self.tree, self.size, &self.skip_state[WAIT], self.events)
        for k in range(n_events):
            arm = self.events[k]
            if arm != leader:
                value = beta_value_above(rng, self.arms[arm].a, self.arms[arm].b, self.level[0], best)
                if value > best:
                    best, chosen = value, arm
        for k in range(n_events):
            if self.events[k] == leader:
                value = self.value_below(rng)
                if value > 0 and chosen == leader:
                    return self.draw_below(rng, value, leader, leader)
                low = value > 0
        if chosen == leader or low:
            return chosen
        while True:  # draw the leader, conditional on being above the level
            value = random_beta(rng, self.arms[leader].a, self.arms[leader].b)
            if value >= self.level[0]:
                return leader if value > best else chosen

    cdef double value_below(self, bitgen_t *rng) noexcept nogil:
        """Propose a value of the leader below the level. Returns -1 if it is rejected.

        1 - value has Beta(b, a), so that the code for values above a level applies.
        """
        cdef int leader = <int>self.leader[0]
        cdef beta_t x
        cdef double z, value
        x.a, x.b = self.arms[leader].b, self.arms[leader].a
        beta_curve(&x, 1 - self.level[0])
        z = x.gap + random_standard_exponential(rng) / x.gap
        value = x.mode + x.width * z
        if beta_keep(
            rng, &x, value, x.gap * x.gap / 2 - x.gap * z, x.mass, -expm1(-self.tree[self.size + leader])
        ):
            return 1 - value
        return -1
