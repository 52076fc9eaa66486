"""Thompson sampling over single arms, as Self-Sparring and Sparring use it."""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

from rankduel.randomness.beta cimport ASK, STALE, beta_argmax, beta_t, beta_uniform, guess_t

cnp.import_array()


cdef class Thompson:
    """One Beta(successes + 1, failures + 1) per arm. Its arrays are state: whoever owns it stores them."""

    def __init__(self, n_arms):
        self.arrays = {
            "arms": np.zeros((n_arms, sizeof(beta_t) // sizeof(double))),
            "tails": np.zeros((n_arms + 15) // 16 * 16, np.uint8),
            "tops": np.zeros((n_arms + 15) // 16 * 16, np.uint8),
            "bar": np.zeros(1),
            "likely": np.full(1, -1),
            "learnt": np.zeros(1, np.int64),
        }
        self.arms.first = <beta_t *>cnp.PyArray_DATA(self.arrays["arms"])
        self.arms.stride = sizeof(beta_t)
        self.arms.n = n_arms
        self.arms.tails = <uint8_t *>cnp.PyArray_DATA(self.arrays["tails"])
        self.arms.tops = <uint8_t *>cnp.PyArray_DATA(self.arrays["tops"])
        self.arms.scratch = <guess_t *>malloc(n_arms * sizeof(guess_t))
        self.bar = <double *>cnp.PyArray_DATA(self.arrays["bar"])
        self.likely = <int64_t *>cnp.PyArray_DATA(self.arrays["likely"])
        self.learnt = <int64_t *>cnp.PyArray_DATA(self.arrays["learnt"])
        if self.arms.scratch == NULL:
            raise MemoryError
        for i in range(n_arms):
            beta_uniform(&self.arms.first[i])
            self.arms.tails[i] = ASK

    def __dealloc__(self):
        free(self.arms.scratch)

    @property
    def means(self):
        """The posterior mean of each arm."""
        return self.arrays["arms"][:, 0] / self.arrays["arms"][:, :2].sum(1)

    cdef int draw(self, bitgen_t *rng) noexcept nogil:
        """Draw all arms; the one with the largest draw."""
        return self.draw_but(rng, -1, NULL)

    cdef int draw_but(self, bitgen_t *rng, int skip, const uint8_t *barred) noexcept nogil:
        """The same without one arm, and without the barred ones."""
        self.arms.bar, self.arms.likely = self.bar[0], <int>self.likely[0]
        return beta_argmax(rng, &self.arms, skip, barred, -1)

    cdef void learn(self, int arm, bint success) noexcept nogil:
        if success:
            self.arms.first[arm].a += 1
        else:
            self.arms.first[arm].b += 1
        self.arms.first[arm].gap = STALE
        self.arms.tails[arm] = ASK
        self.learnt[0] += 1
        if self.learnt[0] % 512 == 0:
            self.raise_bar()

    cdef void raise_bar(self) noexcept nogil:
        """Where the largest draw will hardly ever be below: looking only above it makes the hopeless arms cheap."""
        cdef beta_t *x
        cdef double n, mean, low
        cdef int i
        self.bar[0] = 0
        for i in range(self.arms.n):
            x = &self.arms.first[i]
            n = x.a + x.b
            mean = x.a / n
            low = mean - 3 * sqrt(mean * (1 - mean) / (n + 1))
            if low > self.bar[0]:
                self.bar[0], self.likely[0] = low, i
            x.gap = STALE
            self.arms.tails[i] = ASK
