# How a ranker orders the documents of one query, as the kernels read it. Documents are numbered from 0.

from libc.stdint cimport int32_t, uint16_t

cdef struct ranked_t:
    const void *order  # order[p]: the document at place p, from 0. Tied documents are in file order
    const void *start  # start[d]: the first place of the tie group of document d
    int n  # number of places
    bint wide  # int32 instead of uint16

cdef enum:
    ABSENT = -1  # a value of `start` in wide tables: this ranker does not have the document

cdef enum ties_t:
    FILE  # tied documents stay in file order
    CONSISTENT  # tied documents are in a random order, drawn for each impression
    REDRAW  # drawn again when clicks are credited, as in the program behind the paper's matrices


cdef inline int document_at(const ranked_t *ranked, int place) noexcept nogil:
    return (<const int32_t *>ranked.order)[place] if ranked.wide else (<const uint16_t *>ranked.order)[place]


cdef inline int start_of(const ranked_t *ranked, int document) noexcept nogil:
    return (<const int32_t *>ranked.start)[document] if ranked.wide else (<const uint16_t *>ranked.start)[document]


cdef inline int end_of(const ranked_t *ranked, int start) noexcept nogil:
    """One past the last place of the tie group that begins at `start`. Starts never decrease along the order."""
    cdef int low = start + 1, step = 1, high, middle
    if low >= ranked.n or start_of(ranked, document_at(ranked, low)) != start:
        return low
    while low + step < ranked.n and start_of(ranked, document_at(ranked, low + step)) == start:
        low += step
        step *= 2
    high = min(low + step, ranked.n)  # low is in the group, high is not
    while high - low > 1:
        middle = (low + high) // 2
        if start_of(ranked, document_at(ranked, middle)) == start:
            low = middle
        else:
            high = middle
    return high


cdef inline int place_of(const ranked_t *ranked, int document) noexcept nogil:
    """The place of a document when ties are in file order, or ABSENT."""
    cdef int low = start_of(ranked, document), high, middle
    if low == ABSENT or document_at(ranked, low) == document:
        return low
    high = end_of(ranked, low)
    while high - low > 1:
        middle = (low + high) // 2
        if document_at(ranked, middle) <= document:
            low = middle
        else:
            high = middle
    return low
