from libc.stdint cimport uint8_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t

from rankduel.randomness.small cimport mix
from rankduel.rankings.ranked cimport ABSENT, FILE, document_at, place_of, ranked_t, start_of, ties_t

cdef enum:
    NOBODY = -1  # as a team

cdef extern from *:
    """
    #define RD_TIED 1e-12
    """
    # A difference that is not larger is rounding. Sums of inverse cubes of ranks up to ten are multiples of 1 / 2520^3,
    # more than 6e-11: at ten places and tau = 3 every tie is found, and nothing else is taken for one.
    const double TIED "RD_TIED"


cdef class MultiImpression:  # one list under way, and the memory to build it; each thread has its own
    cdef readonly int k  # places on the page
    cdef readonly int n  # documents placed so far
    cdef readonly int n_rankers
    cdef int *documents  # [k]
    cdef uint8_t *clicked  # [k]: 0 when placed, set by whoever watches the user
    cdef const ranked_t *rankers  # [n_rankers]
    cdef ties_t ties
    cdef uint64_t key  # of this impression: it decides the order of tied documents
    cdef int width
    cdef double *rows  # [k, width]: what credit needs of each document

    # Memory that the methods share: of each ranker, of each (ranker, place), of each document
    cdef int *turns  # [n_rankers]: who may be next, then those who had their turn, then those with nothing left
    cdef int n_turns, n_active
    cdef bint common  # so far all rankers agree
    cdef int *teams  # [k]: whose pick each document is, or NOBODY
    cdef int *latest  # [n_rankers]: the last document looked at
    cdef int *n_left  # [n_rankers]: documents not placed yet
    cdef int *places  # [n_rankers, k]: where the ranker has each document
    cdef int *pool  # [n_rankers * k]: documents to choose from,
    cdef int *tops  # [n_rankers * k]: and the best place that any ranker gives them
    cdef int n_pool
    cdef int *starts  # [k]
    cdef double *left  # [n_rankers]: mass of what is not placed yet
    cdef double *scores  # [n_rankers]
    cdef double *walk  # [2, 2 k + 3, n_rankers]
    cdef double *weights  # weights[p] = (p + 1)^-tau
    cdef double *masses  # masses[p]: the sum of the first p weights
    cdef uint32_t *marks  # marks[d] == epoch: document d is marked
    cdef uint32_t epoch
    cdef int n_marks, n_weights, room
    cdef double tau

    cdef int open(self, const ranked_t *rankers, int n_rankers, ties_t ties, int width) except -1 nogil
    cdef int weigh(self, double tau, int n) except -1 nogil
    cdef int mark(self, int document) except -1 nogil
    cdef int show(self, int document) except -1 nogil
    cdef void rank_shown(self, int offset, bint all) noexcept nogil


cdef class Multileaving:  # a method and its parameters; no state, so threads may share it
    cdef readonly bint whole  # credit needs the whole page, not only what the user has looked at
    cdef dict _parameters

    cdef int width_of(self, int n_rankers) noexcept nogil
    cdef int begin(
        self, MultiImpression shown, bitgen_t *rng, const ranked_t *rankers, int n_rankers, ties_t ties
    ) except -1 nogil
    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil
    cdef int prefer(self, MultiImpression shown, double *preferences) except -1 nogil
    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil
    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil


cdef class ScoredMultileaving(Multileaving):  # preferences come from a score of each ranker
    cdef int score(self, MultiImpression shown, double *scores) except -1 nogil
    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil


cdef inline bint marked(MultiImpression shown, int document) noexcept nogil:
    return document < shown.n_marks and shown.marks[document] == shown.epoch


cdef inline uint64_t tie_key(MultiImpression shown, int r, int document) noexcept nogil:
    """Of tied documents, ranker r puts the one of the smaller key first; no two keys of a ranker are equal."""
    return document if shown.ties == FILE else mix(shown.key ^ (<uint64_t>(r + 1) << 32) ^ document)


cdef inline int rest_of_ties(MultiImpression shown, int r, int place, int start) noexcept nogil:
    """One past the tie group that begins at `start` and holds `place`."""
    cdef const ranked_t *ranked = &shown.rankers[r]
    place += 1
    while place < ranked.n and start_of(ranked, document_at(ranked, place)) == start:
        place += 1
    return place


cdef inline int best_unmarked(MultiImpression shown, int r) noexcept nogil:
    """The best document of ranker r that is not marked, or -1."""
    cdef const ranked_t *ranked = &shown.rankers[r]
    cdef int place, other, end, document, best
    cdef uint64_t key, best_key
    for place in range(ranked.n):
        best = document_at(ranked, place)
        if marked(shown, best):
            continue
        end = place + 1 if shown.ties == FILE else rest_of_ties(shown, r, place, start_of(ranked, best))
        if end > place + 1:
            best_key = tie_key(shown, r, best)
            for other in range(place + 1, end):
                document = document_at(ranked, other)
                key = tie_key(shown, r, document)
                if key < best_key and not marked(shown, document):
                    best, best_key = document, key
        return best
    return -1


cdef inline int next_document(MultiImpression shown, int r, int place, int previous) noexcept nogil:
    """The document at that place of ranker r's order, ties broken; `previous` is the one at the place before."""
    cdef const ranked_t *ranked = &shown.rankers[r]
    cdef int best = document_at(ranked, place), start = start_of(ranked, best), end, other, document
    cdef uint64_t key, least = 0, best_key = ~(<uint64_t>0)
    if shown.ties == FILE:
        return best
    end = rest_of_ties(shown, r, place, start)
    if end == start + 1:
        return best
    if place > start:
        least = tie_key(shown, r, previous) + 1
    for other in range(start, end):
        document = document_at(ranked, other)
        key = tie_key(shown, r, document)
        if least <= key <= best_key:
            best, best_key = document, key
    return best


cdef inline int place_in(MultiImpression shown, int r, int document) noexcept nogil:
    """Where ranker r has a document, ties broken; ABSENT if it is not there."""
    cdef const ranked_t *ranked = &shown.rankers[r]
    cdef int start, place, other
    cdef uint64_t key
    if shown.ties == FILE:
        return place_of(ranked, document)
    place = start = start_of(ranked, document)
    if start == ABSENT:
        return ABSENT
    key = tie_key(shown, r, document)
    for other in range(start, ranked.n):
        if start_of(ranked, document_at(ranked, other)) != start:
            break
        place += tie_key(shown, r, document_at(ranked, other)) < key
    return place
