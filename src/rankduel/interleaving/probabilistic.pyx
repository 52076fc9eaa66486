"""Probabilistic Interleaving (Hofmann, Whiteson, de Rijke 2011)."""

from libc.math cimport fabs, fmax, fmin, pow
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from numpy.random cimport bitgen_t

from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.interleaving.sides cimport (
    __builtin_ctzll,
    document_standing,
    marked,
    occupy,
    place_standing,
    side_t,
    vacate,
)
from rankduel.randomness.draws cimport eight_bytes
from rankduel.rankings.ranked cimport ABSENT, REDRAW, ranked_t, ties_t

from rankduel.errors import brief

cdef enum:
    TABLE = 1024  # number of places with precomputed weights

cdef double TIED = 1e-9  # smaller credits are rounding errors of subtracted masses and count as 0


cdef class ProbabilisticInterleaving(Interleaving):
    """Probabilistic Interleaving: a coin flip picks a ranker for each position, and a document is drawn from its list.

    Ranker j draws an unused document d with probability P_j(d), proportional to rank_j(d)^-tau. Ranks are in its whole
    list, and P_j is normalised over its unused documents. Every document may appear anywhere, so a click is credited to
    both rankers, by the probability that each placed the document. With the coin flips integrated out, the credit is

        P(more clicks on documents of the first) - P(more clicks on documents of the second),

    given the list and the clicks. The first ranker placed a clicked document d with probability
    P_1(d) / (P_1(d) + P_2(d)), independently. This is a Poisson-binomial distribution over the clicked positions, with
    cost O(clicks^2). If clicks do not depend on relevance, the expected credit is exactly 0, but its sign may favour a
    ranker.

    A ranker never places a document that it does not have. When one ranker has no more documents, the other fills the
    page and gets the credit.

    Parameters: `tau`, from 0 (all documents are equally likely) to 50 (almost always the best unused document). The
    literature uses 3. If the rankings have ties, tied documents get random places, and with `redraw` new random places
    for the credit.

    References: K. Hofmann, S. Whiteson, M. de Rijke. A probabilistic method for inferring preferences from clicks.
    CIKM 2011.

    >>> from rankduel.interleaving import ProbabilisticInterleaving
    >>> method = ProbabilisticInterleaving()
    >>> shown = method.interleave("bdca", "abdc", k=4, seed=5)
    >>> shown.documents
    ('b', 'a', 'd', 'c')
    >>> round(method.credit(shown, ["b"]), 6)  # 7/9
    0.777778
    """

    name = "probabilistic"
    credit_field = "probabilities"  # P(the first ranker placed the document)

    cdef readonly double tau
    cdef double weights[TABLE]  # (place + 1)^-tau
    cdef double totals[TABLE + 1]  # totals[n]: sum of the first n weights

    def __init__(self, tau=3.0):
        if isinstance(tau, bool) or not isinstance(tau, (int, float)) or not 0 <= tau <= 50:
            raise ValueError(f"tau must be from 0 to 50, got {tau!r}")
        self.tau = tau
        fill(self.weights, self.totals, TABLE, self.tau)

    def __repr__(self):
        return f"ProbabilisticInterleaving(tau={self.tau})"

    def __reduce__(self):
        return type(self), (self.tau,)

    @staticmethod
    def check_credit_value(value):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ValueError(f"a probability must be a number from 0 to 1, got {brief(value)}")

    cdef object depth(self, int k):
        return None

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        cdef int n = max(first.n, second.n), j
        shown.open(first, second, ties)
        if n > TABLE:
            self.extend(shown, n)
        else:
            shown.weights, shown.totals = self.weights, self.totals
        for j in range(2):
            shown.sides[j].mass = shown.sides[j].summed = shown.totals[shown.sides[j].ranked.n]
        return 0

    cdef int extend(self, Impression shown, int n) except -1 nogil:
        """Compute weights for more places than the table has. The impression owns them, as threads share the method."""
        if shown.table_n < n or shown.table_tau != self.tau:
            free(shown.table)
            shown.table_n = 0
            shown.table = <double *>malloc((2 * <size_t>n + 1) * sizeof(double))
            if shown.table == NULL:
                with gil:
                    raise MemoryError
            shown.table_n, shown.table_tau = n, self.tau
            fill(shown.table, shown.table + n, n, self.tau)
        shown.weights, shown.totals = shown.table, shown.table + shown.table_n
        return 0

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        cdef side_t *own
        cdef side_t *other
        cdef uint64_t random
        cdef int coin, place, elsewhere, document, index = shown.n
        cdef double for_own, for_other
        if index == shown.k or shown.sides[0].left + shown.sides[1].left == 0:
            return -1
        random = eight_bytes(rng)  # the first bit is the coin flip, the last 53 bits draw the document
        coin = random >> 63
        if shown.sides[coin].left == 0:
            coin = 1 - coin
        own, other = &shown.sides[coin], &shown.sides[1 - coin]
        place = draw_place(own, shown.weights, (random & <uint64_t>0x1FFFFFFFFFFFFF) * (1.0 / 9007199254740992.0))
        document = document_standing(rng, own, shown.ties, shown.seen, place)
        elsewhere = place_standing(rng, other, shown.ties, document)
        for_own = take(own, shown.weights, index, place)
        for_other = take(other, shown.weights, index, elsewhere)
        shown.for_first[index], shown.for_second[index] = (for_other, for_own) if coin else (for_own, for_other)
        shown.show(document)
        return document

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        cdef int index, n = 0
        if shown.ties == REDRAW:
            self.redraw(shown, rng)
        for index in range(shown.n):
            if shown.clicked[index]:
                n += 1
                shown.scratch[n] = shown.for_first[index] / (shown.for_first[index] + shown.for_second[index])
        return lead(shown.scratch, n)

    cdef void redraw(self, Impression shown, bitgen_t *rng) noexcept nogil:
        """Draw the places of tied documents again, and recompute the probability that each ranker placed a document."""
        cdef side_t *side
        cdef int index, last = -1, j, place
        for index in range(shown.n):
            if shown.clicked[index]:
                last = index  # positions below the last click do not matter
        for j in range(2):
            side = &shown.redrawn[j]
            side.ranked, side.left = shown.sides[j].ranked, shown.sides[j].ranked.n
            side.mass = side.summed = shown.totals[side.ranked.n]
            for index in range(last + 1):
                place = place_standing(rng, side, REDRAW, shown.documents[index])
                (shown.for_second if j else shown.for_first)[index] = take(side, shown.weights, index, place)
            vacate(side, last + 1)

    cdef tuple record(self, Impression shown):
        cdef int index
        return tuple(
            [shown.for_first[index] / (shown.for_first[index] + shown.for_second[index]) for index in range(shown.n)]
        )

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        cdef double *chances = <double *>malloc((len(positions) + 1) * sizeof(double))
        if chances == NULL:
            raise MemoryError
        try:
            for n, position in enumerate(positions, 1):
                chances[n] = credit_data[position]
            return lead(chances, len(positions))
        finally:
            free(chances)


cdef void fill(double *weights, double *totals, int n, double tau) noexcept nogil:
    """Compute the weights of n places, and the totals of the first 0, ..., n."""
    cdef int place
    totals[0] = 0
    for place in range(n):
        weights[place] = pow(place + 1, -tau)
        totals[place + 1] = totals[place] + weights[place]


cdef inline double free_mass(const side_t *side, const double *weights) noexcept nogil:
    """Sum of the weights of all free places. Stops when the rest is too small to change the sum."""
    cdef double sum = 0
    cdef int place, n = side.ranked.n
    for place in range(n):
        if not marked(side.taken, place):
            sum += weights[place]
        if weights[place] * (n - place) < 1e-20 * sum:
            break
    return sum


cdef inline int draw_place(const side_t *side, const double *weights, double u) noexcept nogil:
    """Draw a free place in proportion to the weights. u is uniform in [0, 1). Most of the mass is at the top."""
    cdef double rest = u * side.mass
    cdef int word = 0, place, last = -1
    cdef uint64_t free_places = ~side.taken[0]
    while True:
        while free_places == 0:
            word += 1
            free_places = ~side.taken[word]
        place = 64 * word + __builtin_ctzll(free_places)
        if place >= side.ranked.n:
            return last  # reached only by rounding
        rest -= weights[place]
        if rest < 0:
            return place
        last = place
        free_places &= free_places - 1


cdef inline double take(side_t *side, const double *weights, int index, int place) noexcept nogil:
    """P(this ranker drew this place | it was chosen by the coin). Marks the place as used."""
    cdef double weight, chance
    occupy(side, index, place)
    if place == ABSENT:
        return 0
    weight = weights[place]
    chance = weight / side.mass
    side.mass -= weight
    if side.mass < side.summed / 1024:  # before rounding errors of the subtractions matter
        side.mass = side.summed = free_mass(side, weights)
    return chance


cdef double lead(double *ways, int n) noexcept nogil:
    """P(more than half of n events happen) - P(fewer than half), given their probabilities in ways[1], ..., ways[n].

    Overwrites `ways`: after m events, ways[j] is the probability that j of them happen, for j = 0, ..., m.
    """
    cdef double chance, result = 0
    cdef int m, j
    if n == 1:
        result = 2 * ways[1] - 1
    elif n > 1:
        ways[0] = 1
        for m in range(1, n + 1):
            chance = ways[m]
            ways[m] = ways[m - 1] * chance
            for j in range(m - 1, 0, -1):
                ways[j] = ways[j] * (1 - chance) + ways[j - 1] * chance
            ways[0] *= 1 - chance
        for j in range((n + 1) // 2):
            result += ways[n - j] - ways[j]
    return fmax(-1, fmin(1, result)) if fabs(result) >= TIED else 0
