from libc.stdint cimport uint8_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t

from rankduel.randomness.small cimport mix
from rankduel.rankings.ranked cimport ABSENT, FILE, document_at, place_of, ranked_t, start_of, ties_t

cdef enum:
    NOBODY = -1  # a team: the document is nobody's pick

cdef extern from *:
    """
    #define RD_TIED 1e-12
    """
    # Smaller differences are rounding errors. Sums of inverse cubes of ranks up to ten are multiples of 1 / 2520^3,
    # which is more than 6e-11. So with ten places and tau = 3, exactly the true ties count as ties.
    const double TIED "RD_TIED"


cdef class MultiImpression:  # the list being built, and its memory. Use one per thread
    cdef readonly int k  # places on the page
    cdef readonly int n  # documents placed so far
    cdef readonly int n_rankers
    cdef int *documents  # [k]
    cdef uint8_t *clicked  # [k]: 0 when placed. The caller sets it for clicked documents
    cdef const ranked_t *rankers  # [n_rankers]
    cdef ties_t ties
    cdef uint64_t key  # random key of this impression, which determines the order of tied documents
    cdef int width
    cdef double *rows  # [k, width]: credit data of each document

    # Memory that the methods share: per ranker, per (ranker, place), per document
    cdef int *turns  # [n_rankers]: rankers that may be next, then those that had their turn, then empty ones
    cdef int n_turns, n_active
    cdef bint common  # all rankers agree so far
    cdef int *teams  # [k]: the ranker that picked each document, or NOBODY
    cdef int *latest  # [n_rankers]: the last document examined
    cdef int *n_left  # [n_rankers]: number of documents not placed yet
    cdef int *places  # [n_rankers, k]: place of each shown document in the ranking
    cdef int *pool  # [n_rankers * k]: documents to choose from
    cdef int *tops  # [n_rankers * k]: the best place that any ranker gives each of them
    cdef int n_pool
    cdef int *starts  # [k]
    cdef double *left  # [n_rankers]: mass of the documents not placed yet
    cdef double *scores  # [n_rankers]
    cdef double *walk  # [2, 2 k + 3, n_rankers]
    cdef double *weights  # weights[p] = (p + 1)^-tau
    cdef double *masses  # masses[p]: sum of the first p weights
    cdef uint32_t *marks  # marks[d] == epoch: document d is marked
    cdef uint32_t epoch
    cdef int n_marks, n_weights, room
    cdef double tau

    cdef int open(self, const ranked_t *rankers, int n_rankers, ties_t ties, int width) except -1 nogil
    cdef int weigh(self, double tau, int n) except -1 nogil
    cdef int mark(self, int document) except -1 nogil
    cdef int show(self, int document) except -1 nogil
    cdef void rank_shown(self, int offset, bint all) noexcept nogil


cdef class Multileaving:  # a method and its parameters. It has no state, so threads may share it
    cdef readonly bint whole  # credit needs the whole page, not only the positions that the user examined
    cdef dict _parameters

    cdef int width_of(self, int n_rankers) noexcept nogil
    cdef int begin(
        self, MultiImpression shown, bitgen_t *rng, const ranked_t *rankers, int n_rankers, ties_t ties
    ) except -1 nogil
    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil
    cdef int prefer(self, MultiImpression shown, double *preferences) except -1 nogil
    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil
    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil


cdef class ScoredMultileaving(Multileaving):  # preferences are computed from a score of each ranker
    cdef int score(self, MultiImpression shown, double *scores) except -1 nogil
    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil


cdef inline bint marked(MultiImpression shown, int document) noexcept nogil:
    return document < shown.n_marks and shown.marks[document] == shown.epoch


cdef inline uint64_t tie_key(MultiImpression shown, int r, int document) noexcept nogil:
    """Sort key of a tied document for ranker r. The smaller key comes first. All keys of a ranker differ."""
    return document if shown.ties == FILE else mix(shown.key ^ (<uint64_t>(r + 1) << 32) ^ document)


cdef inline int rest_of_ties(MultiImpression shown, int r, int place, int start) noexcept nogil:
    """One past the end of the tie group that begins at `start` and includes `place`."""
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
    """The document at a place of ranker r, with ties broken. `previous` is the document at the place before."""
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
    """The place of a document for ranker r, with ties broken, or ABSENT."""
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
