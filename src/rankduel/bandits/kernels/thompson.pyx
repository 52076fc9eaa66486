"""Thompson sampling over single arms, for SelfSparring and SparringThompson.

The largest of K draws is among the few draws above a level. The draw of arm i is above the level with probability at
most p, the mass there of a curve that dominates its density (`randomness/beta.pxd`). These events are simulated as
arrivals with the rate -log(1 - p) (`randomness/arrivals.pxd`). A sum tree of the rates finds each arrival in O(log K).
At an arrival, a value is proposed from the curve and accepted with probability density / curve. The few arms that are
above the level with a large probability, the sure arms, are drawn every time. If no draw is above the level, all other
arms are drawn, conditional on being below it.

The probability of this last case is about exp(-reach). Here reach is the sum of all rates, plus -log P(below the level)
of the sure arms. It is kept near `aim` = 1 + log K, so that both parts of the work cost about the same. A result
changes the rate of one arm. When reach has left its range, the level is moved. The level affects the cost, and never
the distribution of the result.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport exp, fmax, fmin, log, log1p
from libc.stdlib cimport free, malloc
from numpy.random.c_distributions cimport random_beta

from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Values, tree_rules
from rankduel.randomness.arrivals cimport arrival_rate, arrival_wait, arrivals_in_tree
from rankduel.randomness.beta cimport beta_chance_above, beta_draw, beta_value_above
from rankduel.randomness.sum_tree cimport tree_build, tree_change, tree_size

cnp.import_array()

cdef double REMOVED = -1  # the weight of an arm that is never drawn again
cdef double SURE_CHANCE = 0.6  # an arm above the level with a larger probability is a sure arm
cdef double MAX_BELOW_AIM = 1.5, MAX_ABOVE_AIM = 4  # the level is moved when reach is further from aim
cdef double MIN_LEVEL = 1e-9, MAX_LEVEL = 27  # range of -log(1 - level)


cdef class Thompson:
    """One Beta(successes + 1, failures + 1) posterior per arm. The bandit that owns it stores the arrays."""

    def __init__(self, n_arms, *, spare=False):
        self.n, self.size, self.spare = n_arms, tree_size(n_arms), spare
        self.aim = 1 + log(self.n)
        self.arrays = {
            "arms": np.ones((n_arms, 2)),
            "level": np.full(1, n_arms / (n_arms + self.aim)),
            "tree": np.zeros(2 * self.size),
            "weights": np.zeros(n_arms),
            "sure": np.zeros(n_arms, np.int64),
            "n_sure": np.zeros(1, np.int64),
            "left": np.full(1, n_arms),
            "fitted": np.zeros(1, np.int64),
            "learnt": np.zeros(1, np.int64),
        }
        self.arms = <posterior_t *>cnp.PyArray_DATA(self.arrays["arms"])
        self.level = <double *>cnp.PyArray_DATA(self.arrays["level"])
        self.tree = <double *>cnp.PyArray_DATA(self.arrays["tree"])
        self.weights = <double *>cnp.PyArray_DATA(self.arrays["weights"])
        self.sure = <int64_t *>cnp.PyArray_DATA(self.arrays["sure"])
        self.n_sure = <int64_t *>cnp.PyArray_DATA(self.arrays["n_sure"])
        self.left = <int64_t *>cnp.PyArray_DATA(self.arrays["left"])
        self.fitted = <int64_t *>cnp.PyArray_DATA(self.arrays["fitted"])
        self.learnt = <int64_t *>cnp.PyArray_DATA(self.arrays["learnt"])
        self.events = <int *>malloc(n_arms * sizeof(int))
        if self.events == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.events)

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays."""
        arrays, n, size = self.arrays, self.n, self.size
        yield "arms", arrays["arms"], Values(1, MAX_DUELS, whole=True)
        yield "level", arrays["level"], Values(1e-300, 1 - 2.0**-53)
        yield "learnt", arrays["learnt"], Values(0, 4 * MAX_DUELS)
        yield "fitted", arrays["fitted"], Values(0, 1)
        weights, sure = arrays["weights"], arrays["sure"]
        yield "weights", weights, Values(0, 1000, markers=(REMOVED,))
        gone = np.ones(n, bool)
        gone[bandit.alive] = False
        yield "weights", np.where(weights == REMOVED, REMOVED, 0), Equal(np.where(gone, REMOVED, 0))
        yield "left", arrays["left"], Equal(n - int(gone.sum()))
        yield "sure", sure, Values(0, n - 1)
        yield "n_sure", arrays["n_sure"], Values(0, n)
        yield "sure", np.sort(sure[:self.n_sure[0]]), Equal(np.flatnonzero(weights > 0))
        tree = arrays["tree"]
        yield "tree", tree, Values(0, n)
        yield "tree", tree[size:], Values(0, 1)
        yield from tree_rules("tree", tree, self.rates() if self.fitted[0] else tree[size:size + n], close=1e-6)

    def rates(self):
        """The rate at which each arm arrives above the level, computed from its posterior."""
        cdef cnp.ndarray rates = np.zeros(self.n)
        cdef double *rate = <double *>cnp.PyArray_DATA(rates)
        cdef int i
        for i in range(self.n):
            if self.weights[i] == 0:
                rate[i] = arrival_rate(beta_chance_above(self.arms[i].a, self.arms[i].b, self.level[0]))
        return rates

    @property
    def means(self):
        """The posterior mean of each arm."""
        return self.arrays["arms"][:, 0] / self.arrays["arms"].sum(1)

    cdef int draw(self, bitgen_t *rng) noexcept nogil:
        """The arm with the largest draw."""
        return self.draw_but(rng, -1)

    cdef int draw_but(self, bitgen_t *rng, int skip) noexcept nogil:
        """The arm with the largest draw among all arms except `skip`."""
        cdef double best = -1, value, wait
        cdef int chosen = -1, k, arm, n_events
        if not self.fitted[0]:
            self.fit()
        for k in range(self.n_sure[0]):
            arm = <int>self.sure[k]
            if arm != skip:
                value = beta_draw(rng, self.arms[arm].a, self.arms[arm].b)
                if value > best:
                    best, chosen = value, arm
        wait = arrival_wait(rng, self.tree[1])
        n_events = arrivals_in_tree(rng, self.tree, self.size, &wait, self.events)
        for k in range(n_events):
            arm = self.events[k]
            if arm != skip:
                value = beta_value_above(rng, self.arms[arm].a, self.arms[arm].b, self.level[0], best)
                if value > best:
                    best, chosen = value, arm
        return chosen if best > self.level[0] else self.draw_below(rng, best, chosen, skip)

    cdef int draw_below(self, bitgen_t *rng, double best, int chosen, int skip) noexcept nogil:
        """The arm with the largest draw, given that all are below the level. `best` is the largest sure draw."""
        cdef double value
        cdef int i
        for i in range(self.n):
            if i == skip or self.weights[i] != 0:
                continue
            value = random_beta(rng, self.arms[i].a, self.arms[i].b)
            while value > self.level[0]:
                value = random_beta(rng, self.arms[i].a, self.arms[i].b)
            if value > best:
                best, chosen = value, i
        return chosen

    cdef void learn(self, int arm, bint success) noexcept nogil:
        if success:
            self.arms[arm].a += 1
        else:
            self.arms[arm].b += 1
        self.learnt[0] += 1
        if self.fitted[0]:
            self.update_rate(arm)

    cdef void learn_self(self, int arm) noexcept nogil:
        """Learn from a duel of an arm with itself: a win and a loss."""
        self.learn(arm, True)
        self.learn(arm, False)

    cdef void remove(self, int arm) noexcept nogil:
        """Never draw an arm again."""
        self.unlist(arm)
        self.weights[arm] = REMOVED
        self.left[0] -= 1
        if self.fitted[0]:
            self.update_rate(arm)

    cdef void update_rate(self, int arm) noexcept nogil:
        """Update the rate of an arm after a result. The level is moved before the next draw if reach left its range.

        A sure arm may stay sure whatever its posterior becomes, because it is drawn exactly. So it is updated only
        after every fourth result.
        """
        if self.weights[arm] > 0 and <int64_t>(self.arms[arm].a + self.arms[arm].b) % 4:
            return
        tree_change(self.tree, self.size, arm, self.rate(arm))
        self.fitted[0] = self.aim - MAX_BELOW_AIM <= self.reach() <= self.aim + MAX_ABOVE_AIM

    cdef void fit(self) noexcept nogil:
        """Move the level until reach is about aim: Newton's method on log(reach), as a function of -log(1 - level)."""
        cdef double v = -log1p(-self.level[0]), low = MIN_LEVEL, high = MAX_LEVEL, reach, fall
        cdef int step
        self.fitted[0] = 1
        for step in range(40):
            v = fmin(fmax(v, MIN_LEVEL), MAX_LEVEL)
            self.level[0] = 1 - exp(-v)
            self.rebuild()
            reach = self.reach()
            if self.aim - 0.5 <= reach <= self.aim + 1:
                return
            if reach > self.aim:
                low = v
            else:
                high = v
            fall = self.fall()
            if reach > 0 and fall > 0:
                v += log(reach / self.aim) * reach / fall
            if not low < v < high:
                v = (low + high) / 2

    cdef void rebuild(self) noexcept nogil:
        """Compute the rates of all arms for the current level, and rebuild the tree."""
        cdef int i
        self.n_sure[0] = 0
        for i in range(self.n):
            self.weights[i] = fmin(self.weights[i], 0)
        for i in range(self.n):
            self.tree[self.size + i] = self.rate(i)
        tree_build(self.tree, self.size)

    cdef double rate(self, int arm) noexcept nogil:
        """The rate at which an arm arrives above the level, 0 if it is eliminated or sure. Updates the sure arms."""
        cdef const posterior_t *x = &self.arms[arm]
        cdef double chance
        if self.weights[arm] == REMOVED:
            return 0
        chance = beta_chance_above(x.a, x.b, self.level[0])
        if chance > SURE_CHANCE:
            if self.weights[arm] == 0 and self.n_sure[0] < self.n:
                self.sure[self.n_sure[0]] = arm
                self.n_sure[0] += 1
            chance = beta_chance_above(x.b, x.a, 1 - self.level[0])
            self.weights[arm] = -log(fmin(fmax(chance, 1e-300), 0.5))
            return 0
        if self.weights[arm] > 0:
            self.weights[arm] = 0
            self.unlist(arm)
        return arrival_rate(chance)

    cdef void unlist(self, int arm) noexcept nogil:
        """Remove an arm from the list of sure arms, if it is there."""
        cdef int64_t k
        for k in range(self.n_sure[0]):
            if self.sure[k] == arm:
                self.n_sure[0] -= 1
                self.sure[k] = self.sure[self.n_sure[0]]
                return

    cdef int strongest(self) noexcept nogil:
        """The sure arm without which draws must be cheap too (see `spare`), or -1."""
        cdef int best = -1
        cdef int64_t k
        if self.spare and self.left[0] > 1:
            for k in range(self.n_sure[0]):
                if best < 0 or self.weights[self.sure[k]] > self.weights[best]:
                    best = <int>self.sure[k]
        return best

    cdef double reach(self) noexcept nogil:
        """-log of the probability that no draw is above the level, approximately."""
        cdef double total = self.tree[1]
        cdef int but = self.strongest()
        cdef int64_t k
        for k in range(self.n_sure[0]):
            if self.sure[k] != but:
                total += self.weights[self.sure[k]]
        return total

    cdef double fall(self) noexcept nogil:
        """The negative derivative of reach with respect to -log(1 - level), approximately."""
        cdef double level = self.level[0], odds = (1 - level) / level, total = 0
        cdef int but = self.strongest(), i
        for i in range(self.n):
            if self.weights[i] > 0 and i != but:
                total += fmax(0, self.arms[i].a * odds - (self.arms[i].b - 1))
            elif self.tree[self.size + i] > 0:
                total += self.tree[self.size + i] * (self.arms[i].b - (self.arms[i].a - 1) * odds)
        return total
