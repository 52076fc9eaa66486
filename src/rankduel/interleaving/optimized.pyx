"""Optimized Interleaving (Radlinski, Craswell 2013)."""

from libc.math cimport fabs

from numpy.random cimport bitgen_t

from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.interleaving.sides cimport document_standing, mark, side_t, unmark
from rankduel.randomness.draws cimport uniform
from rankduel.rankings.ranked cimport ranked_t, ties_t

from rankduel.errors import brief
from rankduel.interleaving.optimized_plan import CREDITS, plan

cdef double TIED = 1e-9  # smaller sums of credits are rounding errors and count as 0


cdef class OptimizedInterleaving(Interleaving):
    """Optimized Interleaving: draws one of all merged lists, with probabilities from a linear program.

    In an allowed list, each next document is the best unused one of either ranker. A click credits the ranker that
    ranks the document higher: by the difference of the ranks with credit="linear", of 1 / rank with "inverse", or by a
    constant with "binary". The credit of a page is the sum over its clicks, scaled into [-1, 1].

    The probabilities of the lists give a mean credit of 0 to a click at each position, if clicks do not depend on
    relevance. Among all such probabilities, they are the ones that maximise the sensitivity. If no probabilities are
    unbiased, the total bias is minimal. This can happen if the rankers have different documents. With "binary", it
    happens whenever one ranker ranks more documents higher than the other.

    You need scipy: `pip install 'rankduel[optimized]'`. There are up to 2^k lists, so the first page of each pair of
    rankings is slow, and k can be at most about 14. Only the first k documents of each list are used. A document that
    is further down, or missing, has the rank below them. Page 2 does not continue page 1.

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
    credit_field = "credits"  # credit of a click on each document, positive for the first ranker

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
        """Draw one of the allowed lists, and plan it."""
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
    """The best k documents of a ranker, with ties in a random order."""
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
