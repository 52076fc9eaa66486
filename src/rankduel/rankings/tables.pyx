"""Convert scores into ranking tables: how every ranker orders the documents of every query.

The tables are flat. With R rankers, query q with the documents offsets[q], ..., offsets[q + 1] - 1 (n of them) owns the
block R * offsets[q] : R * offsets[q + 1] of both, and ranker r the row r * n : (r + 1) * n of that block:

    order[p]  the document at place p. The highest score comes first, and ties are in file order
    start[d]  the first place of the tie group of document d

Documents are numbered from 0 within their query.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

ctypedef fused place_t:
    uint16_t
    int32_t

cdef struct entry_t:
    uint64_t key  # increases as the score decreases
    int64_t document


def place_type(longest):
    """Integer type of the tables, given the number of documents of the longest query.

    >>> place_type(65_535).__name__, place_type(65_536).__name__
    ('uint16', 'int32')
    """
    return np.uint16 if longest <= 65_535 else np.int32


def rank_scores(const double[:, ::1] scores, const int64_t[::1] offsets, place_t[::1] order, place_t[::1] start):
    """Fill the tables `order` and `start` from scores[document, ranker]. ValueError if a score is NaN.

    >>> order, start = np.empty((2, 6), np.uint16)
    >>> rank_scores(np.array([[1.0, 0.0], [3.0, -0.0], [1.0, 5.0]]), np.array([0, 3]), order, start)
    >>> order.tolist(), start.tolist()
    ([1, 0, 2, 2, 0, 1], [1, 0, 1, 1, 1, 0])
    """
    cdef int64_t R = scores.shape[1], q, n, longest = 0, at, Q = offsets.shape[0] - 1
    cdef int64_t wrong = -1
    cdef entry_t *entries
    if Q < 0 or offsets[0] != 0 or offsets[Q] != scores.shape[0]:
        raise ValueError(
            f"offsets must go from 0 to the number of documents, {scores.shape[0]}, got {np.asarray(offsets)}"
        )
    if order.shape[0] != scores.shape[0] * R or start.shape[0] != scores.shape[0] * R:
        raise ValueError(
            f"{scores.shape[0]} documents and {R} rankers need tables of {scores.shape[0] * R} places, "
            f"got {order.shape[0]} and {start.shape[0]}"
        )
    for q in range(Q):
        longest = max(longest, offsets[q + 1] - offsets[q])
        if offsets[q + 1] < offsets[q]:
            raise ValueError(f"offsets must not decrease, got {offsets[q + 1]} after {offsets[q]}")
    if place_t is uint16_t and longest > 65_535:
        raise ValueError(f"a query of {longest} documents needs int32 tables, got uint16")
    entries = <entry_t *>malloc(2 * max(1, longest) * sizeof(entry_t))
    if entries == NULL:
        raise MemoryError
    with nogil:
        for q in range(Q):
            at, n = offsets[q], offsets[q + 1] - offsets[q]
            if n > 0 and R > 0:
                wrong = rank_query(&scores[at, 0], n, R, entries, entries + longest, &order[at * R], &start[at * R])
                if wrong >= 0:
                    break
    free(entries)
    if wrong >= 0:
        raise ValueError(f"query {q}, document {wrong // R}, ranker {wrong % R}: the score is NaN")


cdef int64_t rank_query(
    const double *scores, int64_t n, int64_t R, entry_t *entries, entry_t *spare, place_t *order, place_t *start
) noexcept nogil:
    """Rank the n documents by each of the R rankers. Returns -1, or the index of a NaN score."""
    cdef int64_t r, d, p, first
    cdef double score
    cdef entry_t *ranked
    cdef bint falling
    for r in range(R):
        falling = True  # already sorted, for example if all documents are tied
        for d in range(n):
            score = scores[d * R + r]
            if score != score:
                return d * R + r
            entries[d].key, entries[d].document = key_of(score), d
            falling &= d == 0 or entries[d - 1].key <= entries[d].key
        ranked = entries if falling else merge_sorted(entries, spare, n)
        first = 0
        for p in range(n):
            if ranked[p].key != ranked[first].key:
                first = p
            d = ranked[p].document
            order[p] = <place_t>d
            start[d] = <place_t>first
        order += n
        start += n
    return -1


cdef inline uint64_t key_of(double score) noexcept nogil:
    """Map a score to an unsigned integer, in descending order. Bits of doubles sort like their absolute values."""
    cdef uint64_t bits
    score += 0.0  # -0.0 becomes 0.0, because the two are tied
    memcpy(&bits, &score, sizeof(bits))
    return bits if bits >> 63 else ~bits & 0x7FFFFFFFFFFFFFFFull


cdef entry_t *merge_sorted(entry_t *entries, entry_t *spare, int64_t n) noexcept nogil:
    """Stable merge sort by key. Returns the one of the two arrays that has the result."""
    cdef int64_t begin, end, i, j, k, width = 8, middle
    cdef entry_t moved
    cdef bint right
    for begin in range(0, n, 8):  # insertion sort of runs of eight
        for i in range(begin + 1, min(begin + 8, n)):
            moved = entries[i]
            j = i
            while j > begin and entries[j - 1].key > moved.key:
                entries[j] = entries[j - 1]
                j -= 1
            entries[j] = moved
    while width < n:
        begin = 0
        while begin < n:
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            if middle == end or entries[middle - 1].key <= entries[middle].key:
                memcpy(spare + begin, entries + begin, (end - begin) * sizeof(entry_t))
            else:
                i, j, k = begin, middle, begin
                while i < middle and j < end:  # without a branch, which would be unpredictable
                    right = entries[j].key < entries[i].key
                    spare[k] = entries[j if right else i]
                    i += not right
                    j += right
                    k += 1
                memcpy(spare + k, entries + i, (middle - i) * sizeof(entry_t))
                memcpy(spare + k + middle - i, entries + j, (end - j) * sizeof(entry_t))
            begin = end
        entries, spare = spare, entries
        width *= 2
    return entries


def widen(const int64_t[::1] offsets, int64_t had, int64_t R, place_t[::1] order, place_t[::1] start):
    """Extend the tables in place from `had` to R rankers. The new rankers tie all documents of every query.

    >>> order, start = np.array([[1, 0, 0, 9, 9, 9], [1, 0, 0, 9, 9, 9]], np.uint16)
    >>> widen(np.array([0, 2, 3]), 1, 2, order, start)
    >>> order.tolist(), start.tolist()
    ([1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0])
    """
    cdef int64_t q, n, r, d, Q = offsets.shape[0] - 1
    cdef place_t *to
    if had > R or order.shape[0] < R * offsets[Q] or start.shape[0] < R * offsets[Q]:
        raise ValueError(f"tables of {order.shape[0]} and {start.shape[0]} places are too small for {R} rankers")
    with nogil:
        for q in range(Q - 1, -1, -1):  # last block first, so that no block overwrites one that has not moved yet
            n = offsets[q + 1] - offsets[q]
            if n == 0:
                continue
            to = &order[R * offsets[q]]
            memmove(to, &order[had * offsets[q]], had * n * sizeof(place_t))
            for r in range(had, R):
                for d in range(n):
                    to[r * n + d] = <place_t>d
            to = &start[R * offsets[q]]
            memmove(to, &start[had * offsets[q]], had * n * sizeof(place_t))
            for d in range(had * n, R * n):
                to[d] = 0


def misplaced(const int64_t[::1] offsets, int64_t R, const place_t[::1] order, const place_t[::1] start):
    """Validate two tables: return the first invalid (query, ranker, place), or None if the tables are valid.

    In valid tables, every place holds a document of the query. It begins a tie group, or it continues the tie group
    before it in file order. It follows that no document occurs twice. The kernels rely on this.

    >>> misplaced(np.array([0, 2]), 1, np.array([1, 0], np.int32), np.array([1, 0], np.int32))
    >>> misplaced(np.array([0, 2]), 1, np.array([1, 1], np.int32), np.array([1, 0], np.int32))
    (0, 0, 1)
    """
    cdef int64_t q, r, p, n, at, Q = offsets.shape[0] - 1
    cdef int64_t document, group, before, last
    for q in range(Q):
        at, n = R * offsets[q], offsets[q + 1] - offsets[q]
        with nogil:
            for r in range(R):
                before, last = -1, -1
                for p in range(n):
                    document = order[at + p]
                    if document < 0 or document >= n:
                        break
                    group = start[at + document]
                    if group != p and (group != before or document <= last):
                        break
                    before, last = group, document
                else:
                    at += n
                    continue
                break
            else:
                r = -1
        if r >= 0:
            return q, r, p
    return None
