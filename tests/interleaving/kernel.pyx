# cython: language_level=3, boundscheck=False, cdivision=True
"""The kernels as the simulation calls them, many times over: built by the tests that need them."""

from libc.stdint cimport uint16_t

import numpy as np

from numpy.random cimport bitgen_t

from rankduel.clicks.base cimport CLICKED, LEFT, ClickModel
from rankduel.interleaving.base cimport Impression, Interleaving
from rankduel.randomness.small cimport small_open, small_t
from rankduel.rankings.ranked cimport CONSISTENT, FILE, REDRAW, ranked_t, ties_t

TIES = {"file": FILE, "consistent": CONSISTENT, "redraw": REDRAW}


cdef class Table:
    """A ranker's order with tie groups, in narrow tables: groups of documents, which stand in file order within."""

    cdef uint16_t[::1] order, start
    cdef ranked_t ranked

    def __init__(self, groups):
        flat = [document for group in groups for document in sorted(group)]
        starts = np.empty(len(flat), np.uint16)
        place = 0
        for group in groups:
            for document in group:
                starts[document] = place
            place += len(group)
        self.order, self.start = np.array(flat, np.uint16), starts
        self.ranked.order, self.ranked.start = &self.order[0], &self.start[0]
        self.ranked.n, self.ranked.wide = len(flat), False

    cdef void shuffle(self, bitgen_t *rng) noexcept nogil:
        """A random order without ties."""
        cdef int place, other
        for place in range(self.ranked.n - 1, -1, -1):
            other = rng.next_uint64(rng.state) % <unsigned long>(place + 1)
            self.order[place], self.order[other] = self.order[other], self.order[place]
            self.start[self.order[place]] = place


def lists(Interleaving method, Table first, Table second, str ties, int k, int n, int seed):
    """So many lists, each as its documents."""
    cdef Impression shown = Impression(k, first.ranked.n)
    cdef small_t stream
    cdef int mode = TIES[ties]
    small_open(&stream, seed)
    made = []
    for _ in range(n):
        method.begin(shown, &stream.rng, &first.ranked, &second.ranked, <ties_t>mode)
        while method.place(shown, &stream.rng) >= 0:
            pass
        made.append(tuple([shown.documents[index] for index in range(shown.n)]))
    return made


def relay(legs, int k, bint shared):
    """One list for each method, first, second, ties: all in one impression, or each in its own."""
    cdef Impression shown = Impression(k, 1)
    cdef Interleaving method
    cdef Table first, second
    cdef small_t stream
    cdef int mode, index
    made = []
    for method, first, second, ties in legs:
        shown = shown if shared else Impression(k, first.ranked.n)
        mode = TIES[ties]
        small_open(&stream, len(made))
        method.begin(shown, &stream.rng, &first.ranked, &second.ranked, <ties_t>mode)
        while method.place(shown, &stream.rng) >= 0:
            pass
        for index in range(0, shown.n, 2):
            shown.clicked[index] = 1
        credit = method.credit_of(shown, &stream.rng)
        made.append((credit, [shown.documents[index] for index in range(shown.n)]))
    return made


def credits(Interleaving method, Table first, Table second, str ties, int k, clicked, int n, int seed):
    """So many lists with clicks at the same positions: documents and credit of each."""
    cdef Impression shown = Impression(k, first.ranked.n)
    cdef small_t stream
    cdef int mode = TIES[ties]
    small_open(&stream, seed)
    made = []
    for _ in range(n):
        method.begin(shown, &stream.rng, &first.ranked, &second.ranked, <ties_t>mode)
        while method.place(shown, &stream.rng) >= 0:
            pass
        for index in clicked:
            shown.clicked[<int>index] = 1
        documents = tuple([shown.documents[index] for index in range(shown.n)])
        made.append((documents, method.credit_of(shown, &stream.rng)))
    return made


def duels(
    Interleaving method, ClickModel user, Table first, Table second, grades, str ties, int k, long n, int seed,
    bint shuffled=False,
):
    """Of n duels on one query: wins of the first and of the second, the sum of credits, and clicks.

    `grades` are those of the documents; if there are more or fewer than documents, the query is a blind one, where each
    document on the page has any of them. A list is built only until its user leaves.
    Where `shuffled`, the first ranker, without ties, gets a new order for each duel.
    """
    cdef Impression shown = Impression(k, first.ranked.n)
    cdef small_t stream
    cdef int mode = TIES[ties], document, answer
    cdef long duel, wins = 0, losses = 0, clicks = 0
    cdef double credit, sum = 0
    cdef int[::1] grade = np.array(grades, np.intc)
    cdef bint blind = len(grades) != first.ranked.n
    small_open(&stream, seed)
    with nogil:
        for duel in range(n):
            if shuffled:
                first.shuffle(&stream.rng)
            method.begin(shown, &stream.rng, &first.ranked, &second.ranked, <ties_t>mode)
            while True:
                document = method.place(shown, &stream.rng)
                if document < 0:
                    break
                if blind:
                    document = stream.rng.next_uint64(stream.rng.state) % <unsigned long>grade.shape[0]
                answer = user.look(&stream.rng, shown.n - 1, grade[document])
                if answer & CLICKED:
                    shown.clicked[shown.n - 1] = 1
                    clicks += 1
                if answer & LEFT:
                    break
            credit = method.credit_of(shown, &stream.rng)
            wins += credit > 0
            losses += credit < 0
            sum += credit
    return wins, losses, sum, clicks
