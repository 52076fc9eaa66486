# Who has met whom, and how often each has won: memory in proportion to the pairs that met.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef struct meeting_t:
    uint64_t key  # the lower arm in the upper half; 0: nobody, for the higher arm is at least 1
    uint32_t low, high  # wins of the lower arm, and of the higher; both stand still once one has reached MOST

cdef enum:
    MOST = 0xFFFFFFFF


cdef class Pairs:
    cdef meeting_t *meetings
    cdef object _memory
    cdef int64_t size, used  # size is a power of two
    cdef int shift

    cdef meeting_t *find(self, int i, int j) noexcept nogil
    cdef void fetch(self, int i, int j) noexcept nogil
    cdef meeting_t *meet(self, int i, int j, const uint8_t *gone, int32_t *lead) except NULL nogil
    cdef int grow(self, const uint8_t *gone, int32_t *lead) except -1 with gil
    cdef int make(self, int64_t least) except -1
    cdef int leads(self, int32_t *lead) except -1


cdef inline int64_t wins(const meeting_t *meeting, int i, int j) noexcept nogil:
    """Of i over j; NULL: they have not met."""
    if meeting == NULL:
        return 0
    return meeting.low if i < j else meeting.high


cdef inline void count_win(meeting_t *meeting, int winner, int loser) noexcept nogil:
    if meeting.low == MOST or meeting.high == MOST:
        return
    if winner < loser:
        meeting.low += 1
    else:
        meeting.high += 1
