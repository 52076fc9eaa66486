"""Trials of a multileaving method: many simulated lists of one query, with random clicks."""

from dataclasses import dataclass

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from rankduel.interleaving.multileaving cimport MultiImpression, Multileaving
from rankduel.randomness import fresh_seed
from rankduel.randomness.draws cimport uniform
from rankduel.randomness.small cimport small_next, small_open, small_seed, small_t
from rankduel.rankings import place_type, rank_scores
from rankduel.rankings.ranked cimport CONSISTENT, FILE, ranked_t, ties_t

cnp.import_array()

TIES = {"file": <int>FILE, "consistent": <int>CONSISTENT}
cdef int BETWEEN_SIGNALS = 1000  # impressions


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Result of a trial: the lists, the clicks, and the mean preferences."""

    documents: np.ndarray  # [impressions, k], -1 if there is none
    clicked: np.ndarray  # [impressions, k]
    preferences: np.ndarray  # [n_rankers, n_rankers]


def trial(method, scores, clicks, *, k=10, impressions=1000, ties="consistent", seed=None):
    """Multileave the rankers of one query many times, for a user that clicks each document with a given probability.

    `scores[r, d]` is the score of document d by ranker r. Higher is better, and equal scores are tied. Ties are broken
    at random in each impression (`consistent`), or by the order of the documents (`file`). `clicks[d]` is the
    probability of a click on document d, at any position.

    >>> from rankduel.interleaving import SOSM, trial
    >>> good, bad = [3, 2, 1, 0], [0, 1, 2, 3]
    >>> trial(SOSM(), [good, bad], clicks=[0.9, 0.5, 0.2, 0.1], impressions=10_000, seed=1).preferences.round(1)
    array([[ 0. ,  0.9],
           [-0.9,  0. ]])
    """
    cdef Multileaving multileaving = method
    cdef MultiImpression shown = MultiImpression(k)
    cdef int n_rankers, n_documents, i, width = shown.k
    cdef long long done = 0, until, total
    cdef ties_t rule
    cdef small_t stream
    cdef uint64_t seeds
    scores, clicks = np.asarray(scores, float), np.ascontiguousarray(clicks, float)
    if scores.ndim != 2 or not scores.size:
        raise ValueError(f"scores must have shape (n_rankers, n_documents), got {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("scores must be numbers, got nan at [{}, {}]".format(*np.argwhere(np.isnan(scores))[0]))
    n_rankers, n_documents = scores.shape
    if clicks.shape != (n_documents,) or not ((clicks >= 0) & (clicks <= 1)).all():
        raise ValueError(f"clicks must be {n_documents} probabilities from 0 to 1, got {clicks!r}")
    if isinstance(impressions, bool) or not isinstance(impressions, (int, np.integer)) or impressions < 1:
        raise ValueError(f"impressions must be a whole number of at least 1, got {impressions!r}")
    if ties not in TIES:
        raise ValueError(f"ties must be {' or '.join(TIES)}, got {ties!r}")
    rule, total = <ties_t><int>TIES[ties], impressions
    cdef Tables tables = Tables(scores)
    documents, clicked = np.full((total, width), -1, np.int32), np.zeros((total, width), np.uint8)
    preferences, added = np.zeros((n_rankers, n_rankers)), np.zeros((n_rankers, n_rankers))
    cdef int32_t *shown_to = <int32_t *>cnp.PyArray_DATA(documents)
    cdef uint8_t *clicked_by = <uint8_t *>cnp.PyArray_DATA(clicked)
    cdef const double *chances = <const double *>cnp.PyArray_DATA(clicks)
    cdef double *one = <double *>cnp.PyArray_DATA(preferences)
    cdef double *sums = <double *>cnp.PyArray_DATA(added)
    seeds = small_seed(fresh_seed() if seed is None else seed)
    while done < total:
        PyErr_CheckSignals()
        until = min(done + BETWEEN_SIGNALS, total)
        with nogil:
            while done < until:
                small_open(&stream, small_next(&seeds))
                multileaving.begin(shown, &stream.rng, tables.ranked, n_rankers, rule)
                while multileaving.place(shown, &stream.rng) >= 0:
                    pass
                for i in range(shown.n):
                    shown.clicked[i] = uniform(&stream.rng) < chances[shown.documents[i]]
                    shown_to[done * width + i], clicked_by[done * width + i] = shown.documents[i], shown.clicked[i]
                multileaving.prefer(shown, one)
                for i in range(n_rankers * n_rankers):
                    sums[i] += one[i]
                done += 1
    return Trial(documents, clicked.astype(bool), added / total)


cdef class Tables:
    """Ranking tables of the scores, as the kernels read them."""

    cdef ranked_t *ranked
    cdef object _order, _start

    def __init__(self, scores):
        cdef int r, n_rankers = scores.shape[0]
        cdef size_t row
        n = scores.shape[1]
        kind = place_type(n)
        wide = kind is np.int32
        self._order, self._start = np.empty(scores.size, kind), np.empty(scores.size, kind)
        rank_scores(np.ascontiguousarray(scores.T), np.array([0, n]), self._order, self._start)
        self.ranked = <ranked_t *>calloc(n_rankers, sizeof(ranked_t))
        if self.ranked == NULL:
            raise MemoryError
        for r in range(n_rankers):
            row = r * n * self._order.itemsize
            self.ranked[r].order = <const char *>cnp.PyArray_DATA(self._order) + row
            self.ranked[r].start = <const char *>cnp.PyArray_DATA(self._start) + row
            self.ranked[r].n, self.ranked[r].wide = n, wide

    def __dealloc__(self):
        free(self.ranked)
