"""Optimized Interleaving (Radlinski, Craswell 2013)."""

from libc.math cimport fabs

from numpy.random cimport bitgen_t

from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.interleaving.sides cimport document_standing, mark, side_t, unmark
from rankduel.randomness.draws cimport uniform
from rankduel.rankings.ranked cimport ranked_t, ties_t

from rankduel.errors import brief
from rankduel.interleaving.optimized_plan import CREDITS, plan

cdef double TIED = 1e-9  # worths are fractions: sums of them that should be 0 miss it by much less than this


cdef class OptimizedInterleaving(Interleaving):
    """Optimized Interleaving: of all lists that merge the two, show each as often as a linear program says.

    Allowed is every list whose next document is always the best unused one of either ranker. A click on a document is
    worth something to the ranker that has it higher: with credit="linear" the difference of its ranks, with "inverse"
    that of 1 / rank, with "binary" always the same. The probabilities of the lists are such that a click at any position is
    worth 0 on average, to users whom no relevance guides, and such that clicks tell as much as they then can. The
    credit is the sum of what the clicks are worth, scaled into [-1, 1].

    Where no probabilities are without bias, they have the least total bias. That may happen when the rankers have
    different documents, and with "binary" whenever one ranker has more documents higher than the other. Needs scipy (`pip install 'rankduel[optimized]'`). There are up to 2^k lists, so it is slow the
    first time it sees a pair of lists; k is at most about 14, and only the first k documents of each list are looked
    at: one that is further down or missing has the rank below them. Page 2 is not a continuation of page 1.

    References: F. Radlinski, N. Craswell. Optimized interleaving for online retrieval evaluation. WSDM 2013.

    >>> from rankduel.interleaving import OptimizedInterleaving
    >>> method = OptimizedInterleaving()
    >>> shown = method.interleave("abcd", "bdca", k=4, seed=1)
    >>> shown.documents
    ('b', 'a', 'd', 'c')
    >>> method.outcome(shown, clicks=["a"])
    <Outcome.FIRST: 'first'>
    """

    name = "optimized"
    credit_field = "credits"  # of each document: what a click is worth; positive: to the first ranker

    cdef readonly str credit_rule

    def __init__(self, credit="linear"):
        if credit not in CREDITS:
            raise ValueError(f"credit must be one of {', '.join(CREDITS)}, got {credit!r}")
        self.credit_rule = credit

    def __repr__(self):
        return f"OptimizedInterleaving(credit={self.credit_rule!r})"

    def __reduce__(self):
        return type(self), (self.credit_rule,)

    @staticmethod
    def check_credit_value(value):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e6 <= value < 1e6:
            raise ValueError(f"a credit must be a number from -1e6 to 1e6, got {brief(value)}")

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        cdef double u
        shown.open(first, second, ties)
        u = uniform(rng)
        with gil:
            self.draw(shown, u, top(shown, rng, 0), top(shown, rng, 1))
        return 0

    cdef int draw(self, Impression shown, double u, tuple first, tuple second) except -1:
        """Plan one of the allowed lists."""
        cdef int index
        lists, chances, worth = plan(first, second, shown.k, self.credit_rule)
        chosen = lists[len(lists) - 1]
        for documents, chance in zip(lists, chances):
            u -= chance
            if u < 0:
                chosen = documents
                break
        shown.n_planned = len(chosen)
        for index in range(shown.n_planned):
            shown.planned[index] = chosen[index]
            shown.for_first[index], shown.for_second[index] = worth[chosen[index]], 0
        return 0

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        if shown.n == shown.n_planned:
            return -1
        shown.show(shown.planned[shown.n])
        return shown.documents[shown.n - 1]

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        cdef double sum = 0
        cdef int index
        for index in range(shown.n):
            if shown.clicked[index]:
                sum += shown.for_first[index]
        return sum if fabs(sum) >= TIED else 0

    cdef tuple record(self, Impression shown):
        cdef int index
        return tuple([shown.for_first[index] for index in range(shown.n)])

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        cdef double sum = 0
        for position in positions:
            sum += credit_data[position]
        return sum if fabs(sum) >= TIED else 0


cdef tuple top(Impression shown, bitgen_t *rng, int j):
    """The best documents of a ranker, as many as the page has places; tied ones in a random order."""
    cdef side_t *side = &shown.sides[j]
    cdef list documents = []
    cdef int place, document
    for place in range(min(shown.k, side.ranked.n)):
        document = document_standing(rng, side, shown.ties, shown.seen, place)
        mark(shown.seen, document)
        documents.append(document)
    for document in documents:
        unmark(shown.seen, document)
    return tuple(documents)
