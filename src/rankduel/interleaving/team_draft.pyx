"""Team Draft Interleaving (Radlinski, Kurup, Joachims 2008)."""

from numpy.random cimport bitgen_t

from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.interleaving.sides cimport marked
from rankduel.randomness.draws cimport below, eight_bytes
from rankduel.rankings.ranked cimport FILE, document_at, end_of, ranked_t, start_of, ties_t

from rankduel.errors import brief

cdef enum:
    COMMON = -1  # a value of `turn`: the lists are equal so far
    EVEN = -2  # both teams have the same number of picks


cdef class TeamDraftInterleaving(Interleaving):
    """Team Draft: rankers add their best unused document in turns. A coin flip in each round decides which one is first.

    The ranker with more clicks on its picks wins. The credit is 1, 0 or -1. The documents with which both lists begin,
    in the same order, are shown first and belong to no team, because a click on them is no evidence. If clicks do not
    depend on relevance, both rankers are equally likely to win. When one ranker has no more documents, the other fills
    the page.

    Only the first k documents of each list are used. Among tied documents, the best unused one is a random one. Credit
    does not use places, so `redraw` is the same as `consistent`.

    References: F. Radlinski, M. Kurup, T. Joachims. How does clickthrough data reflect retrieval quality? CIKM 2008.

    >>> from rankduel.interleaving import TeamDraftInterleaving
    >>> method = TeamDraftInterleaving()
    >>> method.interleave("abcd", "acbe", k=4, seed=1)
    Interleaved(method='team_draft', documents=('a', 'c', 'b', 'e'), teams=(None, 'second', 'first', 'second'))
    """

    name = "team_draft"
    credit_field = "teams"  # team of each document: "first", "second", or None for the common beginning

    def __init__(self):
        pass  # without this method, invalid options would be ignored

    def __repr__(self):
        return "TeamDraftInterleaving()"

    def __reduce__(self):
        return type(self), ()

    @staticmethod
    def check_credit_value(value):
        if value is not None and (not isinstance(value, str) or value not in ("first", "second")):
            raise ValueError(f"a team must be 'first', 'second' or null, got {brief(value)}")

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        shown.open(first, second, ties)
        shown.turn = COMMON
        return 0

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        cdef int best[2]
        cdef int document, team
        if shown.n == shown.k:
            return -1
        if shown.turn == COMMON:
            best[0], best[1] = best_unused(shown, rng, 0), best_unused(shown, rng, 1)
            if best[0] == best[1]:
                return pick(shown, best[0], COMMON)
            shown.turn = EVEN
            if best[0] >= 0 and best[1] >= 0:
                # Both documents are known: they are the picks of the first round, in the order of the coin flip.
                shown.turn = eight_bytes(rng) >> 63
                shown.planned[0], shown.n_planned = best[1 - shown.turn], 1
                team, shown.turn = shown.turn, 1 - shown.turn
                return pick(shown, best[team], team)
        if shown.turn == EVEN:
            team = eight_bytes(rng) >> 63
            shown.turn = 1 - team
        else:
            team, shown.turn = shown.turn, EVEN
        if shown.n_planned:
            document, shown.n_planned = shown.planned[0], 0
            return pick(shown, document, team)
        document = best_unused(shown, rng, team)
        if document < 0:
            team = 1 - team
            document = best_unused(shown, rng, team)
        return pick(shown, document, team)

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        cdef double lead = 0
        cdef int index
        for index in range(shown.n):
            if shown.clicked[index]:
                lead += shown.for_first[index] - shown.for_second[index]
        return (lead > 0) - (lead < 0)

    cdef tuple record(self, Impression shown):
        cdef int index
        return tuple(
            [
                "first" if shown.for_first[index] else "second" if shown.for_second[index] else None
                for index in range(shown.n)
            ]
        )

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        cdef int lead = 0
        for position in positions:
            lead += (credit_data[position] == "first") - (credit_data[position] == "second")
        return (lead > 0) - (lead < 0)


cdef inline int pick(Impression shown, int document, int team) noexcept nogil:
    """Show a document for a team, if there is one."""
    if document >= 0:
        shown.for_first[shown.n], shown.for_second[shown.n] = team == 0, team == 1
        shown.show(document)
    return document


cdef inline int best_unused(Impression shown, bitgen_t *rng, int team) noexcept nogil:
    """The best unused document of a ranker, a random one if tied, or -1."""
    cdef const ranked_t *ranked = &shown.sides[team].ranked
    cdef int place = shown.cursor[team], document = -1, start, size = 1, used, index
    while place < ranked.n:
        document = document_at(ranked, place)
        if shown.ties == FILE:
            size, used = 1, marked(shown.seen, document)
        else:
            start = start_of(ranked, document)
            size, used = end_of(ranked, start) - start, 0
            for index in range(shown.n):
                used += start_of(ranked, shown.documents[index]) == start
        if used < size:
            break
        place += size
    shown.cursor[team] = place
    if place == ranked.n:
        return -1
    if size > 1:
        document = document_at(ranked, place + below(rng, size))
        while marked(shown.seen, document):
            document = document_at(ranked, place + below(rng, size))
    return document
