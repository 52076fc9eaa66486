"""Thompson sampling over single arms that jumps over the draws of which the winner is known, as Self-Sparring uses it.

Late in a run one arm, the leader, wins nearly every draw, for a level lies between its posterior and the others'. A draw
is uneventful if no other arm comes above that level and the leader not below it; then the leader wins, whatever the
values are. An event's chance is bounded by the mass of a curve above the density (`randomness/beta.pxd`), events come
as arrivals (`randomness/arrivals.pxd`), and the draws until the next arrival cost nothing. At an arrival the value is
proposed from the curve and kept with probability density / curve, so that the law is that of plain draws.

The leader meets itself meanwhile, and adds a win and a loss each time. The bound on its chance to be below the level holds
for all posteriors that it comes through until its a + b has grown by a thirty-second.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport exp, expm1, fmax, fmin, sqrt
from libc.stdlib cimport free, malloc
from numpy.random.c_distributions cimport random_beta, random_standard_exponential

from rankduel.bandits.thompson cimport Thompson
from rankduel.randomness.arrivals cimport arrival_rate, arrival_wait, arrivals_now
from rankduel.randomness.beta cimport ASK, STALE, beta_chance_above, beta_curve, beta_keep, beta_t, beta_value_above, slack

cnp.import_array()

cdef enum:
    LEVEL = 0
    TOTAL = 1
    WAIT = 2  # -1: to be drawn
    UNTIL = 3

cdef double DEVIATIONS = 4  # from the leader down to the level
cdef double FEW = 0.5, MANY = 1  # events per draw: few enough to begin, too many to go on
cdef int EVERY = 512  # results between two attempts


cdef class Patient(Thompson):
    """The same posteriors and the same law. An arm that meets itself is told by `learn_self`."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.arrays |= {"rates": np.zeros(n_arms), "calm": np.zeros(4), "leader": np.full(1, -1)}
        self.rates = <double *>cnp.PyArray_DATA(self.arrays["rates"])
        self.calm = <double *>cnp.PyArray_DATA(self.arrays["calm"])
        self.leader = <int64_t *>cnp.PyArray_DATA(self.arrays["leader"])
        self.events = <int *>malloc(n_arms * sizeof(int))
        if self.events == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.events)

    cdef int draw(self, bitgen_t *rng) noexcept nogil:
        if self.leader[0] >= 0:
            if self.calm[WAIT] >= 1:
                self.calm[WAIT] -= 1
                return <int>self.leader[0]
            if self.calm[WAIT] >= 0:
                return self.decide(rng)
            if self.refresh(MANY):
                self.calm[WAIT] = arrival_wait(rng, self.calm[TOTAL])
                return self.draw(rng)
            self.settle()
            return self.draw(rng)
        return Thompson.draw(self, rng)

    cdef void learn(self, int arm, bint success) noexcept nogil:
        cdef beta_t *x = &self.arms.first[arm]
        if success:
            x.a += 1
        else:
            x.b += 1
        x.gap = STALE
        self.arms.tails[arm] = ASK
        self.learnt[0] += 1
        self.rates[arm], self.calm[WAIT] = -1, -1
        if self.leader[0] < 0 and self.learnt[0] % EVERY == 0:
            self.settle()

    cdef void learn_self(self, int arm) noexcept nogil:
        """A win and a loss: the leader's do not change what is known of the draws to come."""
        cdef beta_t *x = &self.arms.first[arm]
        if arm != self.leader[0] or x.a + x.b + 2 > self.calm[UNTIL]:
            self.learn(arm, True)
            self.learn(arm, False)
            return
        x.a += 1
        x.b += 1
        x.gap = STALE
        self.arms.tails[arm] = ASK
        self.learnt[0] += 2

    cdef void settle(self) noexcept nogil:
        """Look for a leader, and for a level below it; without success, raise the bar of plain draws."""
        cdef beta_t *x
        cdef double n, mean, low, best = -1, a, b, more
        cdef int i, leader = 0
        for i in range(self.arms.n):
            x = &self.arms.first[i]
            n = x.a + x.b
            mean = x.a / n
            low = mean - 3 * sqrt(mean * (1 - mean) / (n + 1))
            if low > best:
                best, leader = low, i
            self.rates[i] = -1
        x = &self.arms.first[leader]
        a, b, more = x.a, x.b, (x.a + x.b) / 64  # wins, and as many losses, to come
        self.calm[UNTIL] = a + b + 2 * more
        self.calm[LEVEL] = fmin(
            a / (a + b) - DEVIATIONS * 0.5 / sqrt(a + b),
            (a + more) / self.calm[UNTIL] - DEVIATIONS * 0.5 / sqrt(self.calm[UNTIL]),
        )
        self.calm[WAIT] = -1
        self.leader[0] = leader
        if self.calm[LEVEL] <= 0 or not self.refresh(FEW):
            self.leader[0] = -1
            self.raise_bar()

    cdef bint refresh(self, double most) noexcept nogil:
        """Compute the rates that are not known, and their sum. False if events are too many."""
        cdef double total = 0, chance
        cdef int i
        if self.arms.first[self.leader[0]].a + self.arms.first[self.leader[0]].b > self.calm[UNTIL]:
            return False
        for i in range(self.arms.n):
            if self.rates[i] < 0:
                if i == self.leader[0]:
                    chance = self.chance_below()
                else:
                    chance = beta_chance_above(&self.arms.first[i], self.calm[LEVEL])
                if chance > 0.5:
                    return False
                self.rates[i] = arrival_rate(chance)
            total += self.rates[i]
        self.calm[TOTAL] = total
        return total <= most

    cdef double chance_below(self) noexcept nogil:
        """At least the chance that the leader comes below the level, whenever it has had n more wins and as many losses.

        With mode m and N = a + b - 2, the curve's mass is (1/2 + 1/2N) sqrt(slack) sqrt(2/pi) exp(-g^2 / 2) / g, where
        g = (m - level) / width >= h = (m - level) sqrt(D N): as m goes to 1/2, slack falls, and D, the least bend of the
        density on that side in units of N, grows; both are taken at n = 0. As a function of n,
        h = sqrt(D) (N (m - level) + n (1 - 2 level)) / sqrt(N + 2 n) is smallest at an end or where its slope is 0.
        """
        cdef const beta_t *x = &self.arms.first[self.leader[0]]
        cdef double level = self.calm[LEVEL], n = x.a + x.b - 2, m = (x.a - 1) / n, rise = 1 - 2 * level, wider, bend
        cdef double above = n * (m - level), most = fmax(0, (self.calm[UNTIL] - x.a - x.b) / 2), least, turn
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
        cdef int leader = <int>self.leader[0], n_events, k, chosen = leader
        cdef double best = self.calm[LEVEL], value
        cdef bint low = False
        n_events = arrivals_now(rng, self.rates, self.arms.n, self.calm[TOTAL], &self.calm[WAIT], self.events)
        for k in range(n_events):
            if self.events[k] != leader:
                value = beta_value_above(rng, &self.arms.first[self.events[k]], self.calm[LEVEL])
                if value > best:
                    best, chosen = value, self.events[k]
        for k in range(n_events):
            if self.events[k] == leader:
                value = self.value_below(rng)
                if value > 0 and chosen == leader:
                    return self.whoever(rng, value)
                low = value > 0
        if chosen == leader or low:
            return chosen
        while True:  # the leader, above the level
            value = random_beta(rng, self.arms.first[leader].a, self.arms.first[leader].b)
            if value >= self.calm[LEVEL]:
                return leader if value > best else chosen

    cdef double value_below(self, bitgen_t *rng) noexcept nogil:
        """The value of the leader, which may be below the level; -1 if it is not. Seen in a mirror, it is above."""
        cdef beta_t x = self.arms.first[self.leader[0]]
        cdef double z, value
        x.a, x.b = x.b, x.a
        beta_curve(&x, 1 - self.calm[LEVEL])
        z = x.gap + random_standard_exponential(rng) / x.gap
        value = x.mode + x.width * z
        if beta_keep(rng, &x, value, x.gap * x.gap / 2 - x.gap * z, x.mass, -expm1(-self.rates[self.leader[0]])):
            return 1 - value
        return -1

    cdef int whoever(self, bitgen_t *rng, double value) noexcept nogil:
        """The winner where all are below the level, and the leader has this value."""
        cdef int i, chosen = <int>self.leader[0]
        cdef double other
        for i in range(self.arms.n):
            if i != self.leader[0]:
                other = random_beta(rng, self.arms.first[i].a, self.arms.first[i].b)
                while other > self.calm[LEVEL]:
                    other = random_beta(rng, self.arms.first[i].a, self.arms.first[i].b)
                if other > value:
                    value, chosen = other, i
        return chosen
