# Who has met whom, and how often each has won: memory in proportion to the pairs that met.

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef struct meeting_t:
    uint64_t key  # the lower arm in the upper half; 0: nobody, for the higher arm is at least 1
    int64_t low, high  # wins of the lower arm, and of the higher
    int64_t unused  # two of these fill a line of the cache


cdef class Pairs:
    cdef meeting_t *meetings
    cdef int64_t size, used  # size is a power of two
    cdef int shift

    cdef meeting_t *find(self, int i, int j) noexcept nogil
    cdef meeting_t *meet(self, int i, int j, const uint8_t *gone) except NULL nogil
    cdef int grow(self, const uint8_t *gone) except -1 nogil


cdef inline int64_t wins(const meeting_t *meeting, int i, int j) noexcept nogil:
    """Of i over j; NULL: they have not met."""
    if meeting == NULL:
        return 0
    return meeting.low if i < j else meeting.high


cdef inline void count_win(meeting_t *meeting, int winner, int loser) noexcept nogil:
    if winner < loser:
        meeting.low += 1
    else:
        meeting.high += 1
