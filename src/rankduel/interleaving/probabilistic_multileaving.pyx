"""Probabilistic Multileaving (Schuth et al. 2015)."""

import numpy as np

from libc.math cimport fabs
from libc.string cimport memset

from numpy.random cimport bitgen_t

from rankduel.interleaving.multileaving import positive
from rankduel.interleaving.multileaving cimport (
    TIED,
    MultiImpression,
    Multileaving,
    next_document,
    place_in,
)
from rankduel.randomness.draws cimport below, uniform
from rankduel.rankings.ranked cimport ABSENT, document_at, ranked_t, start_of, ties_t


cdef class ProbabilisticMultileaving(Multileaving):
    """For each position, draws a ranker, and then a document from its list, rank r with a weight of r^-tau.

    The ranker is drawn uniformly from those with unused documents, and the document is one that is not yet on the page.
    Credit does not use the ranker that was drawn, but the probability s_r that the document came from ranker r. The
    preference of x over y is P(x has more clicks) - P(y has more clicks), exactly. It is computed as a random walk that
    goes up with probability s_x and down with probability s_y at each click. With two rankers, this is Probabilistic
    Interleaving.

    Evidence of a document: the s_r of each ranker.

    Schuth, Bruintjes, Büttner, van Doorn, Groenland, Oosterhuis, Tran, Veeling, van der Velde, Wechsler, Woudenberg,
    de Rijke: Probabilistic multileave for online retrieval evaluation. SIGIR 2015. There, the rankers take turns in
    random rounds. Here, they are drawn independently, which makes the s_r exact.

    >>> from rankduel.interleaving import ProbabilisticMultileaving
    >>> method = ProbabilisticMultileaving()
    >>> shown = method.multileave([[1, 3, 2, 0], [0, 1, 3, 2]], seed=3)
    >>> shown.documents
    (1, 0, 3, 2)
    >>> method.preferences(shown, clicks=[1]).round(4)
    array([[ 0.    ,  0.7778],
           [-0.7778,  0.    ]])
    """

    cdef double tau

    def __init__(self, tau=3.0):
        self.tau = positive("tau", tau)
        super().__init__(tau=self.tau)

    cdef int begin(
        self, MultiImpression shown, bitgen_t *rng, const ranked_t *rankers, int n_rankers, ties_t ties
    ) except -1 nogil:
        cdef int r, longest = 0
        Multileaving.begin(self, shown, rng, rankers, n_rankers, ties)
        for r in range(n_rankers):
            longest = max(longest, rankers[r].n)
        shown.weigh(self.tau, longest)
        for r in range(n_rankers):
            shown.left[r], shown.n_left[r], shown.turns[r] = shown.masses[rankers[r].n], rankers[r].n, r
        shown.n_active = n_rankers
        return 0

    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil:
        cdef int turn, r, document
        if shown.n == shown.k:
            return -1
        while shown.n_active > 0:
            turn = below(rng, shown.n_active)
            r = shown.turns[turn]
            if shown.n_left[r] > 0:
                document = draw(shown, rng, r)
                shown.show(document)
                assign(shown)
                return document
            shown.n_active -= 1
            shown.turns[turn] = shown.turns[shown.n_active]
        return -1

    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil:
        """Walk x against all y > x at the same time: now[d, y] = P(x is d - m - 1 clicks ahead of y)."""
        cdef int n = shown.n_rankers, m = 0, seen, x, y, i, d
        cdef double up, difference
        cdef const double *row
        cdef double *now
        cdef double *then
        for i in range(shown.n):
            m += shown.clicked[i]
        for x in range(n):
            now, then = shown.walk, shown.walk + (2 * <size_t>m + 3) * n
            for d in range(2 * (2 * m + 3)):
                memset(now + <size_t>d * n + x, 0, (n - x) * sizeof(double))
            for y in range(x + 1, n):
                now[(m + 1) * n + y] = 1
            seen = 0
            for i in range(shown.n):
                if not shown.clicked[i]:
                    continue
                seen += 1
                row = shown.rows + <size_t>i * shown.width
                up = row[x]
                for d in range(m + 1 - seen, m + 2 + seen):
                    step(then + d * n, now + (d - 1) * n, now + d * n, now + (d + 1) * n, row, up, x + 1, n)
                now, then = then, now
            preferences[<size_t>x * n + x] = 0
            for y in range(x + 1, n):
                difference = 0
                for d in range(1, m + 1):
                    difference += now[(m + 1 + d) * n + y] - now[(m + 1 - d) * n + y]
                difference = difference if fabs(difference) > TIED else 0
                preferences[<size_t>x * n + y], preferences[<size_t>y * n + x] = difference, -difference
        return 0

    def _evidence(self, MultiImpression shown):
        cdef int i, j
        return tuple([tuple([shown.rows[i * shown.width + j] for j in range(shown.width)]) for i in range(shown.n)])

    def _limits(self, n, n_rankers):
        return np.zeros(n_rankers), np.ones(n_rankers)


cdef void step(
    double *then, const double *lower, const double *same, const double *upper,
    const double *down, double up, int first, int n
) noexcept nogil:
    cdef int y
    for y in range(first, n):
        then[y] = lower[y] * up + same[y] * (1 - up - down[y]) + upper[y] * down[y]


cdef bint is_taken(MultiImpression shown, int r, int place) noexcept nogil:
    """Whether the document at this place of ranker r is on the page."""
    cdef const int *places = shown.places + <size_t>r * shown.k
    cdef int i
    for i in range(shown.n):
        if places[i] == place:
            return True
    return False


cdef int draw(MultiImpression shown, bitgen_t *rng, int r) noexcept nogil:
    """Draw a document of ranker r that is not on the page."""
    cdef const ranked_t *ranked = &shown.rankers[r]
    cdef double rest = uniform(rng) * shown.left[r]
    cdef int place, last = -1, document
    for place in range(ranked.n):
        if not is_taken(shown, r, place):
            last = place
            rest -= shown.weights[place]
            if rest < 0:
                break
    place = start_of(ranked, document_at(ranked, last))
    document = next_document(shown, r, place, -1)
    while place < last:  # skip the tied documents before it
        place += 1
        document = next_document(shown, r, place, document)
    return document


cdef void assign(MultiImpression shown) noexcept nogil:
    """Store the place of the last document for each ranker, and the probability that it came from this ranker."""
    cdef int i = shown.n - 1, r, place
    cdef double *row = shown.rows + <size_t>i * shown.width
    cdef double total = 0
    for r in range(shown.n_rankers):
        place = place_in(shown, r, shown.documents[i])
        shown.places[<size_t>r * shown.k + i] = place
        row[r] = 0
        if place != ABSENT:
            row[r] = shown.weights[place] / shown.left[r]
            total += row[r]
            shown.n_left[r] -= 1
            shown.left[r] -= shown.weights[place]
            if shown.left[r] < 1e-3 * shown.masses[shown.rankers[r].n]:  # the rest may be mostly rounding errors
                shown.left[r] = rest_of(shown, r)
    for r in range(shown.n_rankers):
        row[r] /= total


cdef double rest_of(MultiImpression shown, int r) noexcept nogil:
    """Sum of the weights of the unused documents of ranker r."""
    cdef double mass = 0
    cdef int place
    for place in range(shown.rankers[r].n - 1, -1, -1):
        if not is_taken(shown, r, place):
            mass += shown.weights[place]
    return mass
