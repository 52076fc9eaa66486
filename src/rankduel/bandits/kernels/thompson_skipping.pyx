"""Thompson sampling over single arms that skips draws whose winner is known, as Self-Sparring uses it.

Late in a run one arm, the leader, wins nearly every draw, for a level lies between its posterior and the others'. A draw
is uneventful if no other arm comes above that level and the leader not below it; then the leader wins, whatever the
values are. So the tree of rates (`thompson.pyx`) is laid at that level, with the leader's rate to be below it. The time to the
next arrival is kept, and the draws until then cost nothing. At an arrival the value is proposed from the curve and kept
with probability density / curve, so that the law is that of plain draws.

The leader meets itself meanwhile, and adds a win and a loss each time. The bound on its chance to be below the level holds
for all posteriors that it comes through until its a + b has grown by a thirty-second.
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
    WAIT = 0  # -1: to be drawn
    UNTIL = 1

cdef double LEVEL_DEVIATIONS = 4  # from the leader down to the level
cdef double MAX_EVENTS_TO_START = 0.5, MAX_EVENTS_TO_CONTINUE = 1  # per draw, to begin and to go on with skipping
cdef int RESULTS_BETWEEN_ATTEMPTS = 512  # to find a leader


cdef class SkippingThompson(Thompson):
    """The same posteriors and the same law. An arm that meets itself is told by `learn_self`."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.arrays |= {"calm": np.zeros(2), "leader": np.full(1, -1)}
        self.skip_state = <double *>cnp.PyArray_DATA(self.arrays["calm"])
        self.leader = <int64_t *>cnp.PyArray_DATA(self.arrays["leader"])

    def snapshot_rules(self, bandit, stored):
        """And with a leader, the level is such that it is hardly ever below."""
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
        """As there; or of the events, where there is a leader. Its own is of a posterior that it has had before."""
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
        """A win and a loss: the leader's do not change what is known of the draws to come."""
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
        """Lay the tree at the level if there is a leader still, or look for one, or do without."""
        cdef const posterior_t *x = &self.arms[max(self.leader[0], 0)]
        if self.leader[0] >= 0 and x.a + x.b <= self.skip_state[UNTIL] and self.build_skip_tree(MAX_EVENTS_TO_CONTINUE):
            return
        self.leader[0] = -1
        Thompson.fit(self)
        if self.n_sure[0] == 1 and self.tree[1] < MAX_EVENTS_TO_START:
            self.try_leader()

    cdef void try_leader(self) noexcept nogil:
        """The one arm that is sure may be a leader, with a level farther below it; else all stays as it is."""
        cdef const posterior_t *x = &self.arms[self.sure[0]]
        cdef double before = self.level[0], a = x.a, b = x.b, more = (a + b) / 64  # wins, and as many losses, to come
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
        """At least that of an event: the leader below the level, or another arm above it."""
        if arm == self.leader[0]:
            return self.chance_below()
        return beta_chance_above(self.arms[arm].a, self.arms[arm].b, self.level[0])

    cdef bint build_skip_tree(self, double most) noexcept nogil:
        """Compute all rates anew. False if events are too many."""
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
        """At least the chance that the leader comes below the level, whenever it has had n more wins and as many losses.

        With mode m and N = a + b - 2, the curve's mass is (1/2 + 1/2N) sqrt(slack) sqrt(2/pi) exp(-g^2 / 2) / g, where
        g = (m - level) / width >= h = (m - level) sqrt(D N): as m goes to 1/2, slack falls, and D, the least bend of the
        density on that side in units of N, grows; both are taken at n = 0. As a function of n,
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
        """A draw in which something arrives: who wins it."""
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
        while True:  # the leader, above the level
            value = random_beta(rng, self.arms[leader].a, self.arms[leader].b)
            if value >= self.level[0]:
                return leader if value > best else chosen

    cdef double value_below(self, bitgen_t *rng) noexcept nogil:
        """The value of the leader, which may be below the level; -1 if it is not. Seen in a mirror, it is above."""
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
