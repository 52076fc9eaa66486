"""`Merging`: batches, elimination and merging (Algorithm 1 of MergeDTS without the sampling), shared with MergeRUCB.

`learn` decides when an arm is eliminated. With `Certified`, `record_bets` (kernels/certificate.pxd) decides.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset

from rankduel.bandits.base cimport FIRST, TIE, Bandit, duel_t, outcome_t
from rankduel.bandits.kernels.certificate cimport EVEN_PRIOR_DUELS, Certificate, Eliminations, even, record_bets
from rankduel.bandits.elimination import Hoeffding, elimination_from
from rankduel.bandits.parameters import number, whole
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Shape, Values
from rankduel.randomness import generator

cnp.import_array()


cdef void free_batch(batch_t *batch) noexcept nogil:
    if batch != NULL:
        free(batch.arms)
        free(batch.pairs)
        free(batch.bytes)
        free(batch)


cdef copied(const void *data, shape, dtype):
    """Copy raw memory into a new array."""
    cdef cnp.ndarray array = np.empty(shape, dtype)
    memcpy(cnp.PyArray_DATA(array), data, array.nbytes)
    return array


cdef void sort_by_size(batch_t **batches, int n) noexcept nogil:
    """Stable sort, smallest first. The order of equal sizes is random, because arms were shuffled."""
    cdef batch_t *batch
    cdef int i, k
    for i in range(1, n):
        batch, k = batches[i], i
        while k > 0 and batches[k - 1].size > batch.size:
            batches[k] = batches[k - 1]
            k -= 1
        batches[k] = batch


cdef class Merging(Bandit):
    """Arms are dealt into batches and meet only within their batch, so memory is O(K M) instead of O(K^2).

    Wins are counted per batch. An arm is eliminated as soon as one bound says that it loses to another arm of its
    batch. When half of the arms of a stage are eliminated, small batches are merged with large ones. A merge keeps all
    counts.
    """

    def __init__(self, n_arms, *, alpha, batch_size, c, elimination, seed):
        elimination = elimination_from(elimination)
        if isinstance(elimination, Hoeffding):
            alpha, c, elimination = elimination.alpha, elimination.c, None
        alpha, c = number("alpha", alpha), number("c", c)
        batch_size = whole("batch_size", batch_size, minimum=2)
        super().__init__(n_arms, seed=seed, alpha=alpha, batch_size=batch_size, c=c, elimination=elimination)
        self.eliminations = Eliminations(self.n_arms) if elimination is None else Certificate(self.n_arms, elimination)
        self.certificate = None if elimination is None else self.eliminations
        self._adopt("", self.eliminations)
        self.alpha, self.batch_size, self.c, self.max_size = alpha, batch_size, c, 1.5 * batch_size
        self.log_c = log(self.c)
        self.won = <int64_t *>self.array("won", self.n_arms)
        self.fought = <int64_t *>self.array("fought", self.n_arms)
        self.batch_of = <batch_t **>calloc(self.n_arms, sizeof(batch_t *))
        self._batches = <batch_t **>calloc((self.n_arms + self.batch_size - 1) // self.batch_size, sizeof(batch_t *))
        self.index_in_batch = <int *>calloc(self.n_arms, sizeof(int))
        if self.batch_of == NULL or self._batches == NULL or self.index_in_batch == NULL:
            raise MemoryError
        if self._stored is None:  # otherwise `_load` takes the batches from the snapshot
            self.deal()

    @classmethod
    def theoretical(cls, n_arms, *, horizon, alpha=1.01, batch_size=4, seed=None):
        """Make a bandit with the parameters of Theorem 1: alpha > 1/2, M >= 4, C(epsilon) with epsilon = 1 / horizon.

        Use it when you need the guarantee of the paper.
        """
        alpha = number("alpha", alpha, above=0.5)
        batch_size = whole("batch_size", batch_size, minimum=4)
        horizon = number("horizon", horizon, above=1)
        try:
            c = ((4 * alpha - 1) * n_arms**2 * horizon / (2 * alpha - 1)) ** (1 / (2 * alpha - 1))
        except OverflowError:
            raise ValueError(
                f"C(epsilon) overflows with alpha={alpha} and {n_arms} arms; choose a larger alpha"
            ) from None
        return cls(n_arms, alpha=alpha, batch_size=batch_size, c=c, elimination=None, seed=seed)

    def __dealloc__(self):
        cdef int m
        for m in range(self.n_batches):
            free_batch(self._batches[m])
        free(self._batches)
        free(self.batch_of)
        free(self.index_in_batch)

    # The rules that differ between the merging bandits

    cdef int choose_in(self, const batch_t *batch, int *first, int *second) except -1 nogil:
        """Choose the next duel of a batch, as two indices in it."""
        return 0

    cdef void init_record(self, void *record) noexcept nogil:
        """Initialise the record of two arms that have not met."""

    cdef void count(self, batch_t *batch, int winner, int loser, double *wins, double *losses) noexcept nogil:
        """Add a win to the records of two indices. Returns the loser's wins and losses against the winner."""

    cdef double wins_of(self, const batch_t *batch, int i, int j) noexcept nogil:
        """Wins of index i over index j."""
        return 0

    cdef int layout_cache(self, batch_t *batch) except -1 nogil:
        """Lay out the cache of a batch, after its arms have changed."""
        return 0

    cdef void layout_odds(self, batch_t *batch) noexcept nogil:
        """Recompute the part of the cache that is a pure function of the records."""

    cdef size_t n_bytes(self, int size) noexcept nogil:
        """The size of the cache of a batch, in bytes."""
        return 0

    def _batch_rules(self, records):
        """Yield the snapshot rules for the records [size, size] of a batch."""
        yield from ()

    # Algorithm 1

    cdef int choose(self, duel_t *duel) except -1 nogil:
        cdef batch_t *batch = self._batches[duel.number % self.n_batches]  # line 6: m = t mod b_s
        cdef int first = 0, second = 0
        if batch.size > 1:
            self.choose_in(batch, &first, &second)  # lines 14 and 15
        duel.first, duel.second = batch.arms[first], batch.arms[second]
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        cdef int winner = duel.first if outcome == FIRST else duel.second
        cdef int loser = duel.second if outcome == FIRST else duel.first
        cdef batch_t *batch = self.batch_of[winner]
        cdef double wins, losses, n, margin
        if outcome == TIE or winner == loser or batch == NULL or self.batch_of[loser] != batch:
            return 0  # nothing to learn, or an arm was eliminated meanwhile, or the arms are in different batches
        self.won[winner] += 1
        self.fought[winner] += 1
        self.fought[loser] += 1
        self.count(batch, self.index_in_batch[winner], self.index_in_batch[loser], &wins, &losses)  # line 16
        if self.certificate is not None:
            if record_bets(self.certificate, winner, loser, losses - 1, wins, 0.5, EVEN_PRIOR_DUELS) and self.n_alive > 1:
                self.eliminate(loser, winner)
            elif self.n_batches == 1 and even(self.certificate, wins, losses):
                self.tied = self.all_even()
            return 0
        # Line 10: remove a_i if u_ij < 1/2. Only this pair's bound has fallen. All other bounds grow with t.
        n = wins + losses
        margin = n / 2 - wins
        if margin > 0 and margin * margin > self.alpha * n * self.log_c:  # cheap test first: log c < log(t + c)
            if margin * margin > self.alpha * n * log(self.told + self.c):
                self.eliminate(loser, winner)
        return 0

    cdef bint all_even(self) noexcept nogil:
        """Whether all pairs of arms of the last batch are known to be within the tolerance."""
        cdef const batch_t *batch = self._batches[0]
        cdef int i, j
        for i in range(batch.size):
            for j in range(i):
                if not even(self.certificate, self.wins_of(batch, i, j), self.wins_of(batch, j, i)):
                    return False
        return True

    cdef int eliminate(self, int arm, int by) except -1 nogil:
        cdef batch_t *batch = self.batch_of[arm]
        cdef int gone = self.index_in_batch[arm], m, i, k = 0
        cdef int n = batch.size, ahead
        cdef int32_t *lead = self.eliminations.lead
        for i in range(n):
            ahead = self.ahead(batch, i, gone)
            lead[batch.arms[i]] += ahead
            lead[arm] -= ahead
        for i in range(n * n):  # remove the row and the column of the arm from the records
            if i // n != gone and i % n != gone:
                memmove(batch.pairs + k * self.record_size, batch.pairs + i * self.record_size, self.record_size)
                k += 1
        memmove(&batch.arms[gone], &batch.arms[gone + 1], (n - gone - 1) * sizeof(int))
        batch.size = n - 1
        self.batch_of[arm] = NULL
        self.eliminations.add(arm, by, self.told)
        self.n_alive -= 1
        self.place_arms(batch)
        if batch.size == 1 and self.n_batches > 1:  # line 12: merge with the next batch
            m = 0
            while self._batches[m] != batch:
                m += 1
            self.join(m, (m + 1) % self.n_batches)
        if <int64_t>self.n_alive << self.stage <= self.n_arms:  # line 18: alive <= K / 2^s
            self.repartition()
        if self.certificate is not None and self.n_batches == 1 and self.n_alive > 1:
            self.tied = self.all_even()
        return 0

    cdef int ahead(self, const batch_t *batch, int i, int j) noexcept nogil:
        """1 if index i leads against index j, -1 if it is behind, else 0."""
        cdef double lead = 0 if i == j else self.wins_of(batch, i, j) - self.wins_of(batch, j, i)
        return (lead > 0) - (lead < 0)

    def _leads(self):
        cdef int m, i, j
        leads = self.eliminations.leads()
        for m in range(self.n_batches):
            for i in range(self._batches[m].size):
                for j in range(self._batches[m].size):
                    leads[self._batches[m].arms[i]] += self.ahead(self._batches[m], i, j)
        return leads

    cdef int repartition(self) except -1 nogil:
        """Phase IV: join small batches with large ones until each has M/2 to 3M/2 arms, if possible."""
        while self.pair_up():
            if 2 * self._batches[0].size >= self.batch_size:
                break
        self.stage += 1
        return 0

    cdef bint pair_up(self) except -1 nogil:
        """Join the smallest batch with the largest while the sum is at most 3M/2. Return true if any were joined."""
        cdef int large = self.n_batches - 1
        cdef bint joined = False
        sort_by_size(self._batches, self.n_batches)
        while large > 0:
            if self._batches[0].size + self._batches[large].size <= self.max_size:
                self.join(0, large)  # the indices of the others decrease by one
                large -= 1
                joined = True
            large -= 1
        sort_by_size(self._batches, self.n_batches)
        return joined

    # Storage

    cdef void *record(self, const batch_t *batch, int i, int j) noexcept nogil:
        return batch.pairs + (<size_t>i * batch.size + j) * self.record_size

    cdef batch_t *new_batch(self, int size) except NULL nogil:
        cdef batch_t *batch = <batch_t *>calloc(1, sizeof(batch_t))
        if batch != NULL:
            batch.size = size
            batch.arms = <int *>malloc(size * sizeof(int))
            batch.pairs = <char *>calloc(<size_t>size * size, self.record_size)
        if batch == NULL or batch.arms == NULL or batch.pairs == NULL:
            free_batch(batch)
            with gil:
                raise MemoryError
        return batch

    cdef int place_arms(self, batch_t *batch) except -1 nogil:
        """Store batch and index of the arms of a batch, and lay out its cache."""
        cdef int i
        for i in range(batch.size):
            self.batch_of[batch.arms[i]] = batch
            self.index_in_batch[batch.arms[i]] = i
        return self.layout_cache(batch)

    cdef int join(self, int absorbed, int into) except -1 nogil:
        """Merge one batch into another. All counts are kept, and the number of batches b_s decreases."""
        cdef batch_t *small = self._batches[absorbed]
        cdef batch_t *large = self._batches[into]
        cdef batch_t *merged = self.new_batch(small.size + large.size)
        cdef int i, j
        for i in range(merged.size):
            merged.arms[i] = large.arms[i] if i < large.size else small.arms[i - large.size]
            for j in range(merged.size):
                if i < large.size and j < large.size:
                    memcpy(self.record(merged, i, j), self.record(large, i, j), self.record_size)
                elif i >= large.size and j >= large.size:
                    memcpy(
                        self.record(merged, i, j), self.record(small, i - large.size, j - large.size), self.record_size
                    )
                else:
                    self.init_record(self.record(merged, i, j))
        self._batches[into] = merged
        self.n_batches -= 1
        memmove(&self._batches[absorbed], &self._batches[absorbed + 1], (self.n_batches - absorbed) * sizeof(batch_t *))
        free_batch(small)
        free_batch(large)
        return self.place_arms(merged)

    cdef int deal(self) except -1:
        """Line 4: deal the shuffled arms into batches of M. The last may be smaller. A single arm joins the first."""
        arms = generator(self.seed, "arms").permutation(self.n_arms).astype(np.intc)
        sizes = np.full((self.n_arms + self.batch_size - 1) // self.batch_size, self.batch_size, np.intc)
        sizes[-1] = self.n_arms - (len(sizes) - 1) * self.batch_size
        self.set_batches(arms, sizes, None, None)
        if sizes[-1] == 1 and self.n_batches > 1:
            self.join(self.n_batches - 1, 0)
        self.stage = 1
        return 0

    cdef int set_batches(self, cnp.ndarray arms, cnp.ndarray sizes, cnp.ndarray pairs, cnp.ndarray bytes) except -1:
        """Replace the batches. Their parts are concatenated in the arrays. Without records, no arms have met."""
        cdef int *next_arm = <int *>cnp.PyArray_DATA(arms)
        cdef char *next_record = NULL if pairs is None else <char *>cnp.PyArray_DATA(pairs)
        cdef uint8_t *next_byte = NULL if bytes is None else <uint8_t *>cnp.PyArray_DATA(bytes)
        cdef batch_t *batch
        cdef int i, n_records
        for i in range(self.n_batches):
            free_batch(self._batches[i])
        memset(self.batch_of, 0, self.n_arms * sizeof(batch_t *))
        self.n_batches = 0
        for size in sizes:
            batch = self._batches[self.n_batches] = self.new_batch(size)
            self.n_batches += 1
            n_records = batch.size * batch.size
            memcpy(batch.arms, next_arm, batch.size * sizeof(int))
            next_arm += batch.size
            for i in range(n_records):
                self.init_record(batch.pairs + i * self.record_size)
            self.place_arms(batch)
            if next_record != NULL:  # copy the cache too: a new one would give the same distribution, but other draws
                memcpy(batch.pairs, next_record, n_records * self.record_size)
                next_record += n_records * self.record_size
                memcpy(batch.bytes, next_byte, self.n_bytes(batch.size))
                next_byte += self.n_bytes(batch.size)
                self.layout_odds(batch)
        self.n_alive = len(arms)
        return 0

    def _state(self):
        cdef batch_t *batch
        cdef int m
        parts = []
        for m in range(self.n_batches):
            batch = self._batches[m]
            parts.append(
                (
                    copied(batch.arms, (batch.size,), np.intc),
                    copied(batch.pairs, (batch.size**2, self.record_size // sizeof(double)), np.float64),
                    copied(batch.bytes, (self.n_bytes(batch.size),), np.uint8),
                )
            )
        arms, pairs, bytes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        sizes = np.array([len(part[0]) for part in parts], np.intc)
        stage = np.array(self.stage)
        return {**self._arrays, "stage": stage, "sizes": sizes, "arms": arms, "pairs": pairs, "bytes": bytes}

    def _snapshot_rules(self, stored):
        yield from Bandit._snapshot_rules(self, stored)
        yield "won", self._arrays["won"], Values(0, MAX_DUELS)
        yield "fought", self._arrays["fought"], Values(0, MAX_DUELS)
        yield "stage", stored["stage"], Shape(np.int64, ())
        yield "stage", stored["stage"], Values(1, 32)
        sizes, pairs = stored["sizes"], stored["pairs"]
        yield "sizes", sizes, Shape(np.intc, (None,))
        yield "sizes, their number,", len(sizes), Values(1, (self.n_arms + self.batch_size - 1) // self.batch_size)
        yield "sizes", sizes, Values(1, self.n_arms)
        sizes = sizes.tolist()
        yield "arms", stored["arms"], Shape(np.intc, (sum(sizes),))
        yield "arms", np.sort(stored["arms"]), Equal(self.alive)
        yield "bytes", stored["bytes"], Shape(np.uint8, (sum([self.n_bytes(size) for size in sizes]),))
        n_numbers = self.record_size // sizeof(double)
        yield "pairs", pairs, Shape(np.float64, (sum([size**2 for size in sizes]), n_numbers))
        end = 0
        for size in sizes:
            start, end = end, end + size**2
            yield from self._batch_rules(pairs[start:end].reshape(size, size, n_numbers))

    def _load(self, arrays):
        Bandit._load(self, arrays)
        pairs = np.ascontiguousarray(arrays["pairs"])
        self.set_batches(arrays["arms"], arrays["sizes"], pairs, arrays["bytes"])
        self.stage = int(arrays["stage"])

    # The properties for users

    @property
    def batches(self):
        """The batches as lists of arms, in the order in which they take turns."""
        cdef int m, i
        return [[self._batches[m].arms[i] for i in range(self._batches[m].size)] for m in range(self.n_batches)]

    @property
    def champion(self):
        """The arm with the best win rate among those left."""
        alive = self.alive
        rates = (self._arrays["won"][alive] + 1) / (self._arrays["fought"][alive] + 2)
        return int(alive[np.argmax(rates)])
