"""Balanced Interleaving (Joachims 2002; Radlinski, Kurup, Joachims 2008)."""

from libc.limits cimport INT_MAX
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from numpy.random cimport bitgen_t

from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.interleaving.sides cimport document_standing, marked, occupy, place_standing, side_t, vacate
from rankduel.randomness.draws cimport eight_bytes
from rankduel.rankings.ranked cimport ABSENT, REDRAW, ranked_t, ties_t

from rankduel.errors import brief


cdef class BalancedInterleaving(Interleaving):
    """Balanced Interleaving: takes documents from the top of both lists in turns.

    A coin flip decides which ranker begins. Documents that are already on the page are skipped. The ranker with more
    clicked documents among its top d gets the credit: 1, 0 or -1. With depth="lowest", d is the better of the two
    places of the lowest clicked document (Joachims). With depth="both", the lowest place of any clicked document is
    found in each list, and d is the higher of the two places, as in some programs.

    Use it only to compare with older work, because it is biased. For example, let one ranking be abcd and the other
    bcda, and click each document with probability 0.2. Then the second wins with probability .39, and the first with
    .10. Use Team Draft or Probabilistic Interleaving instead.

    If the rankings have ties, tied documents get random places, and with `redraw` new random places for the credit.
    Only the first k documents of each list are used, unless depth="both".

    References: T. Joachims. Optimizing search engines using clickthrough data. KDD 2002.

    >>> from rankduel.interleaving import BalancedInterleaving
    >>> method = BalancedInterleaving()
    >>> shown = method.interleave("abcd", "bcda", k=4, seed=1)
    >>> shown.documents, shown.credit_data
    (('b', 'a', 'c', 'd'), ((1, 0), (0, 3), (2, 1), (3, 2)))
    >>> method.credit(shown, ["b"])
    -1.0
    """

    name = "balanced"
    credit_field = "places"  # place of each document in both lists, from 0. None if it is not in the list

    cdef bint both

    def __init__(self, depth="lowest"):
        if depth not in ("lowest", "both"):
            raise ValueError(f"depth must be 'lowest' or 'both', got {depth!r}")
        self.both = depth == "both"

    def __repr__(self):
        return f"BalancedInterleaving(depth={'both' if self.both else 'lowest'!r})"

    def __reduce__(self):
        return type(self), ('both' if self.both else 'lowest',)

    @staticmethod
    def check_credit_value(value):
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ValueError(f"places must be a pair, for the first and the second list, got {brief(value)}")
        for place in value:
            whole = isinstance(place, int) and not isinstance(place, bool)
            if place is not None and (not whole or not 0 <= place < INT_MAX):
                raise ValueError(f"a place must be a whole number from 0 to {INT_MAX - 1}, or null, got {brief(place)}")

    cdef object depth(self, int k):
        return None if self.both else k

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        shown.open(first, second, ties)
        shown.turn = eight_bytes(rng) >> 63  # the ranker that begins
        return 0

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        cdef int ahead, j, place, document, elsewhere
        cdef side_t *own
        cdef side_t *other
        if shown.n == shown.k or shown.sides[0].left + shown.sides[1].left == 0:
            return -1
        while True:
            ahead = shown.cursor[0] - shown.cursor[1]
            j = 0 if ahead < 0 or (ahead == 0 and shown.turn == 0) else 1
            if shown.cursor[j] == shown.sides[j].ranked.n:
                j = 1 - j
            own, other, place = &shown.sides[j], &shown.sides[1 - j], shown.cursor[j]
            shown.cursor[j] += 1
            if not marked(own.taken, place):
                break
        document = document_standing(rng, own, shown.ties, shown.seen, place)
        elsewhere = place_standing(rng, other, shown.ties, document)
        occupy(own, shown.n, place)
        occupy(other, shown.n, elsewhere)
        shown.show(document)
        return document

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        cdef side_t *sides = &shown.redrawn[0] if shown.ties == REDRAW else &shown.sides[0]
        cdef int index, j, n = 0
        if shown.ties == REDRAW:
            for j in range(2):
                sides[j].ranked = shown.sides[j].ranked
                for index in range(shown.n):
                    occupy(&sides[j], index, place_standing(rng, &sides[j], REDRAW, shown.documents[index]))
                vacate(&sides[j], shown.n)
        return self.compare(sides[0].places, sides[1].places, shown.clicked, shown.n)

    cdef double compare(self, const int *first, const int *second, const uint8_t *clicked, int n) noexcept nogil:
        """Compare the numbers of clicked documents down to the depth."""
        cdef int lowest[2]
        cdef int index, depth, lead = 0
        lowest[0] = lowest[1] = -1
        for index in range(n):
            if clicked[index]:
                lowest[0] = max(lowest[0] if self.both else -1, depth_of(first[index]))
                lowest[1] = max(lowest[1] if self.both else -1, depth_of(second[index]))
        depth = min(lowest[0], lowest[1])
        for index in range(n):
            if clicked[index]:
                lead += (0 <= first[index] <= depth) - (0 <= second[index] <= depth)
        return (lead > 0) - (lead < 0)

    cdef tuple record(self, Impression shown):
        cdef const int *first = shown.sides[0].places
        cdef const int *second = shown.sides[1].places
        cdef int index
        return tuple(
            [
                (None if first[index] == ABSENT else first[index], None if second[index] == ABSENT else second[index])
                for index in range(shown.n)
            ]
        )

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        cdef int n = len(positions), index
        cdef int *places = <int *>malloc(2 * n * sizeof(int))
        cdef uint8_t *clicked = <uint8_t *>malloc(n)
        try:
            if places == NULL or clicked == NULL:
                raise MemoryError
            memset(clicked, 1, n)
            for index in range(n):
                first, second = credit_data[positions[index]]
                places[index] = ABSENT if first is None else first
                places[n + index] = ABSENT if second is None else second
            return self.compare(places, places + n, clicked, n)
        finally:
            free(places)
            free(clicked)


cdef inline int depth_of(int place) noexcept nogil:
    """The place of a document. A missing document is below everything."""
    return INT_MAX if place == ABSENT else place
