# One ranker in an impression: the places of the shown documents in its ranking. Ties are broken lazily: when a document
# is shown, its place is drawn from the free places of its tie group. So all orders of the tied documents are equally
# likely, and each shown document costs O(1), however many documents are tied.

from libc.stdint cimport uint64_t

from numpy.random cimport bitgen_t

from rankduel.randomness.draws cimport below
from rankduel.rankings.ranked cimport ABSENT, FILE, document_at, end_of, place_of, ranked_t, start_of, ties_t

cdef extern from *:
    int __builtin_ctzll(uint64_t word) noexcept nogil

cdef struct side_t:
    ranked_t ranked
    uint64_t *taken  # a bit for each place: a shown document has it
    int *places  # [k]: place of each shown document, or ABSENT
    int left  # number of free places
    double mass  # sum of the weights of the free places, updated by subtraction
    double summed  # the mass when it was last summed up exactly


cdef inline bint marked(const uint64_t *bits, int k) noexcept nogil:
    return (bits[k >> 6] >> (k & 63)) & 1


cdef inline void mark(uint64_t *bits, int k) noexcept nogil:
    bits[k >> 6] |= <uint64_t>1 << (k & 63)


cdef inline void unmark(uint64_t *bits, int k) noexcept nogil:
    bits[k >> 6] &= ~(<uint64_t>1 << (k & 63))


cdef inline int document_standing(
    bitgen_t *rng, const side_t *side, ties_t ties, const uint64_t *seen, int place
) noexcept nogil:
    """The document at a free place: a random one of its tie group that is not on the page."""
    cdef int document = document_at(&side.ranked, place), start, size
    if ties == FILE:
        return document
    start = start_of(&side.ranked, document)
    size = end_of(&side.ranked, start) - start
    if size > 1:
        document = document_at(&side.ranked, start + below(rng, size))
        while marked(seen, document):
            document = document_at(&side.ranked, start + below(rng, size))
    return document


cdef inline int place_standing(bitgen_t *rng, const side_t *side, ties_t ties, int document) noexcept nogil:
    """The place of a new document: a random free place of its tie group. ABSENT if the ranker does not have it."""
    cdef int start, size, place
    if ties == FILE:
        return place_of(&side.ranked, document)
    start = start_of(&side.ranked, document)
    if start == ABSENT:
        return ABSENT
    size = end_of(&side.ranked, start) - start
    if size == 1:
        return start
    place = start + below(rng, size)
    while marked(side.taken, place):
        place = start + below(rng, size)
    return place


cdef inline void occupy(side_t *side, int index, int place) noexcept nogil:
    """Give a place to the document shown at `index`."""
    side.places[index] = place
    if place != ABSENT:
        mark(side.taken, place)
        side.left -= 1


cdef inline void vacate(side_t *side, int n) noexcept nogil:
    """Free the places of the first n shown documents."""
    cdef int index
    for index in range(n):
        if side.places[index] != ABSENT:
            unmark(side.taken, side.places[index])
