"""Two samples per slot, in trees of maxima that find the slot with the best first or second sample."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uintptr_t

cnp.import_array()

NO_SAMPLE = -1e300


cdef class SampleTrees:
    """Build the trees from a row of first samples and a row of second samples. Slots from `n_active` on are free."""

    def __init__(self, const double[:, ::1] rows, int n_active):
        cdef int which, slot, level, n = rows.shape[1]
        sizes = [n := (n + WIDTH - 1) // WIDTH]
        while n > 1:
            sizes.append(n := (n + WIDTH - 1) // WIDTH)
        self.n_levels = len(sizes)
        self._memory = np.full((sum(sizes) + 1) * 2 * WIDTH, NO_SAMPLE)  # one more block, for the alignment
        cdef uintptr_t start = <uintptr_t>cnp.PyArray_DATA(self._memory)
        cdef block_t *block = <block_t *>((start + sizeof(block_t) - 1) // sizeof(block_t) * sizeof(block_t))
        for level in range(self.n_levels):
            self.levels[level] = block
            block += <int>sizes[level]
        for which in range(2):
            for slot in range(n_active):
                put(self, which, slot, rows[which, slot])
