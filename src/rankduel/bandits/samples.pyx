"""Two samples for each seat, and who has the best of each: trees of maxima, eight to a node, as wide as the cache is."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uintptr_t

cnp.import_array()

NOBODY = -1e300


cdef class Samples:
    """Of the first `n_active` seats, from rows of first and of second samples; nobody has the others."""

    def __init__(self, const double[:, ::1] rows, int n_active):
        cdef int which, seat, level, n = rows.shape[1]
        sizes = [n := (n + WIDTH - 1) // WIDTH]
        while n > 1:
            sizes.append(n := (n + WIDTH - 1) // WIDTH)
        self.n_levels = len(sizes)
        self._memory = np.full((sum(sizes) + 1) * 2 * WIDTH, NOBODY)  # and one, to begin where a line does
        cdef uintptr_t start = <uintptr_t>cnp.PyArray_DATA(self._memory)
        cdef block_t *block = <block_t *>((start + sizeof(block_t) - 1) // sizeof(block_t) * sizeof(block_t))
        for level in range(self.n_levels):
            self.levels[level] = block
            block += <int>sizes[level]
        for which in range(2):
            for seat in range(n_active):
                self.put(which, seat, rows[which, seat])

    cdef void put(self, int which, int seat, double value) noexcept nogil:
        """A new sample, up to where it is not the best and the old one was not."""
        cdef int level, place = seat
        cdef double *line
        cdef double old, best
        for level in range(self.n_levels):
            line = self.levels[level][place >> BITS].of[which]
            old = line[place & (WIDTH - 1)]
            line[place & (WIDTH - 1)] = value
            place >>= BITS
            if level + 1 == self.n_levels:
                return
            best = self.levels[level + 1][place >> BITS].of[which][place & (WIDTH - 1)]
            if value <= best:
                if old < best:
                    return
                value = largest(line)

    cdef int best(self, int which) noexcept nogil:
        """The seat with the largest sample."""
        return self.below(which, self.n_levels, 0, largest(self.levels[self.n_levels - 1].of[which]))

    cdef int best_but(self, int which, int seat) noexcept nogil:
        """The seat with the largest sample but for one seat."""
        cdef int level, k, place = seat, best_level = 0, best_place = self.best(which)
        cdef double value = NOBODY
        cdef const double *line
        if best_place != seat:
            return best_place
        for level in range(self.n_levels):
            line = self.levels[level][place >> BITS].of[which]
            for k in range(WIDTH):
                if k != place & (WIDTH - 1) and line[k] > value:
                    value, best_level, best_place = line[k], level, (place | (WIDTH - 1)) - (WIDTH - 1) + k
            place >>= BITS
        return self.below(which, best_level, best_place, value)

    cdef int below(self, int which, int level, int place, double value) noexcept nogil:
        """The seat below a place of a level that has the sample which made it there."""
        while level > 0:
            level -= 1
            place = (place << BITS) + where(self.levels[level][place].of[which], value)
        return place

    cdef double get(self, int which, int seat) noexcept nogil:
        return self.levels[0][seat >> BITS].of[which][seat & (WIDTH - 1)]

    cdef void fetch(self, int seat) noexcept nogil:
        """Have a seat's samples, and what they are compared with, brought near."""
        fetch(&self.levels[0][seat >> BITS].of[0])
        fetch(&self.levels[0][seat >> BITS].of[1])
        if self.n_levels > 3:  # the upper levels are near anyway
            fetch(&self.levels[1][seat >> 2 * BITS].of[0])
            fetch(&self.levels[1][seat >> 2 * BITS].of[1])


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double largest(const double *line) noexcept nogil:
    return larger(
        larger(larger(line[0], line[1]), larger(line[2], line[3])),
        larger(larger(line[4], line[5]), larger(line[6], line[7])),
    )


cdef inline int where(const double *line, double value) noexcept nogil:
    """Where in a line a value is; the first where several are."""
    cdef int k, place = 0
    for k in range(WIDTH - 1, -1, -1):
        if line[k] == value:
            place = k
    return place
