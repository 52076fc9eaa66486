"""Hash table of the pairs that met. It drops pairs of eliminated arms when it grows."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cnp.import_array()

cdef int MIN_SIZE_BITS = 10


cdef inline int low_of(uint64_t key) noexcept nogil:
    return <int>(key >> 32)


cdef inline int high_of(uint64_t key) noexcept nogil:
    return <int>(key & <uint64_t>0xFFFFFFFF)


cdef class PairTable:
    """Wins of arm i over arm j, for all pairs that met."""

    def __cinit__(self):
        self.allocate(0)

    cdef int allocate(self, int64_t least) except -1:
        """Allocate an empty table with at least this size."""
        self.size, self.shift, self.used = 1 << MIN_SIZE_BITS, 64 - MIN_SIZE_BITS, 0
        while self.size < least:
            self.size, self.shift = 2 * self.size, self.shift - 1
        self._memory = np.zeros((self.size, sizeof(meeting_t)), np.uint8)  # NumPy uses huge pages
        self.meetings = <meeting_t *>cnp.PyArray_DATA(self._memory)
        return 0

    cdef meeting_t *find_or_insert(self, int i, int j, const uint8_t *gone, int32_t *lead) except NULL nogil:
        """The entry of two arms, inserted if they have not met.

        If the table must grow, pairs of `gone` arms are dropped. Their results are added to `lead`, the pairs won minus
        the pairs lost of each arm.
        """
        cdef uint64_t key = key_of(i, j)
        cdef int64_t at = probe(self, key)
        if self.meetings[at].key != key:
            if 2 * (self.used + 1) > self.size:
                self.grow(gone, lead)
                at = probe(self, key)
            self.meetings[at].key = key
            self.used += 1
        return &self.meetings[at]

    cdef int grow(self, const uint8_t *gone, int32_t *lead) except -1 with gil:
        """Drop the pairs of eliminated arms, and allocate a table with four slots per remaining pair."""
        cdef meeting_t *old = self.meetings
        cdef int64_t n = self.size, left = 0, k
        cdef int i, j, ahead
        kept = self._memory
        for k in range(n):
            if old[k].key:
                i, j = low_of(old[k].key), high_of(old[k].key)
                if gone == NULL or not (gone[i] or gone[j]):
                    left += 1
                else:
                    ahead = (old[k].low > old[k].high) - (old[k].low < old[k].high)
                    lead[i] += ahead
                    lead[j] -= ahead
                    old[k].key = 0
        self.allocate(4 * left)
        self.used = left
        for k in range(n):
            if old[k].key:
                self.meetings[probe(self, old[k].key)] = old[k]
        return 0

    cdef int leads(self, int32_t *lead) except -1:
        """Add the pairs won minus the pairs lost of each arm, over all entries of the table."""
        cdef int64_t k
        cdef int ahead
        for k in range(self.size):
            if self.meetings[k].key:
                ahead = (self.meetings[k].low > self.meetings[k].high) - (self.meetings[k].low < self.meetings[k].high)
                lead[low_of(self.meetings[k].key)] += ahead
                lead[high_of(self.meetings[k].key)] -= ahead
        return 0

    def table(self):
        """All entries, sorted by arms: rows of lower arm, higher arm, wins of the lower, wins of the higher."""
        cdef cnp.ndarray table = np.empty((self.used, 4), np.int64)
        cdef int64_t *row = <int64_t *>cnp.PyArray_DATA(table)
        cdef int64_t k
        for k in range(self.size):
            if self.meetings[k].key:
                row[0], row[1] = low_of(self.meetings[k].key), high_of(self.meetings[k].key)
                row[2], row[3] = self.meetings[k].low, self.meetings[k].high
                row += 4
        return table[np.lexsort((table[:, 1], table[:, 0]))]

    def load(self, table):
        """Load a table of a snapshot, which must be checked before."""
        cdef cnp.ndarray rows = np.ascontiguousarray(table, np.int64)
        cdef const int64_t *row = <const int64_t *>cnp.PyArray_DATA(rows)
        cdef meeting_t *meeting
        cdef int64_t k
        for k in range(len(table)):
            meeting = self.find_or_insert(<int>row[4 * k], <int>row[4 * k + 1], NULL, NULL)
            meeting.low, meeting.high = <uint32_t>row[4 * k + 2], <uint32_t>row[4 * k + 3]
