# Hash table from pairs of arms to their wins. Memory is proportional to the number of pairs that met.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from rankduel.bandits.kernels.sample_trees cimport prefetch

cdef struct meeting_t:
    uint64_t key  # lower arm in the upper 32 bits, higher arm in the lower 32. 0 is a free slot: the higher arm is >= 1
    uint32_t low, high  # wins of the lower and of the higher arm. Counting stops when one of them reaches MAX_WINS

cdef enum:
    MAX_WINS = 0xFFFFFFFF


cdef class PairTable:
    cdef meeting_t *meetings
    cdef object _memory
    cdef int64_t size, used  # size is a power of two
    cdef int shift

    cdef meeting_t *find_or_insert(self, int i, int j, const uint8_t *gone, int32_t *lead) except NULL nogil
    cdef int grow(self, const uint8_t *gone, int32_t *lead) except -1 with gil
    cdef int allocate(self, int64_t least) except -1
    cdef int leads(self, int32_t *lead) except -1


cdef inline uint64_t key_of(int i, int j) noexcept nogil:
    return (<uint64_t>i << 32 | <uint64_t>j) if i < j else (<uint64_t>j << 32 | <uint64_t>i)


cdef inline int64_t hash_slot(PairTable pairs, uint64_t key) noexcept nogil:
    """The slot to which a key hashes."""
    return <int64_t>((key * <uint64_t>0x9E3779B97F4A7C15) >> pairs.shift)


cdef inline int64_t probe(PairTable pairs, uint64_t key) noexcept nogil:
    """The slot of a key, or the free slot for it, by linear probing."""
    cdef int64_t at = hash_slot(pairs, key)
    while pairs.meetings[at].key and pairs.meetings[at].key != key:
        at = (at + 1) & (pairs.size - 1)
    return at


cdef inline meeting_t *find(PairTable pairs, int i, int j) noexcept nogil:
    """The entry of two arms, NULL if they have not met. The pointer is valid until the next `find_or_insert`."""
    cdef uint64_t key = key_of(i, j)
    cdef int64_t at = probe(pairs, key)
    return &pairs.meetings[at] if pairs.meetings[at].key == key else NULL


cdef inline void prefetch_meeting(PairTable pairs, int i, int j) noexcept nogil:
    """Prefetch the entry of two arms."""
    prefetch(&pairs.meetings[hash_slot(pairs, key_of(i, j))])


cdef inline int64_t wins(const meeting_t *meeting, int i, int j) noexcept nogil:
    """Wins of i over j. NULL stands for two arms that have not met."""
    if meeting == NULL:
        return 0
    return meeting.low if i < j else meeting.high


cdef inline void count_win(meeting_t *meeting, int winner, int loser) noexcept nogil:
    if meeting.low == MAX_WINS or meeting.high == MAX_WINS:
        return
    if winner < loser:
        meeting.low += 1
    else:
        meeting.high += 1
