"""The contract of every interleaving method: begin a list, place one document after the other, credit the clicks."""

import numpy as np

from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from rankduel.interleaving.sides cimport mark, vacate
from rankduel.randomness.small cimport small_open, small_seed, small_t
from rankduel.rankings.lists cimport Lists
from rankduel.rankings.ranked cimport FILE

from rankduel.interleaving.interleaved import Interleaved
from rankduel.randomness import fresh_seed
from rankduel.types import Outcome


cdef class Impression:
    """One list under way: the memory to build lists of up to k places, one after the other. Each thread has its own.

    >>> from rankduel.interleaving import Impression
    >>> Impression(10, 120).k
    10
    """

    def __cinit__(self, int k, int n_documents):
        cdef int j
        if k < 1 or n_documents < 0:
            raise ValueError(f"an impression has at least one place, got {k} for {n_documents} documents")
        self.k = k
        self.documents = <int *>calloc(6 * <size_t>k, sizeof(int))
        self.clicked = <uint8_t *>calloc(k, 1)
        self.for_first = <double *>calloc(3 * <size_t>k + 1, sizeof(double))
        if self.documents == NULL or self.clicked == NULL or self.for_first == NULL:
            raise MemoryError
        self.for_second = self.for_first + k
        self.scratch = self.for_second + k
        for j in range(2):
            self.sides[j].places = self.documents + (1 + j) * k
            self.redrawn[j].places = self.documents + (3 + j) * k
        self.planned = self.documents + 5 * k
        self.reserve(n_documents)

    def __dealloc__(self):
        free(self.documents)
        free(self.clicked)
        free(self.for_first)
        free(self.seen)
        free(self.table)

    cdef int reserve(self, int n_documents) except -1 nogil:
        """Memory for queries of so many documents; the list so far is forgotten where that was less."""
        cdef size_t words = n_documents // 64 + 1
        cdef uint64_t *bits
        if n_documents <= self.reach and self.seen != NULL:
            return 0
        bits = <uint64_t *>calloc(5 * words, sizeof(uint64_t))
        if bits == NULL:
            with gil:
                raise MemoryError
        free(self.seen)
        self.seen, self.reach, self.n = bits, n_documents, 0
        self.sides[0].taken, self.sides[1].taken = bits + words, bits + 2 * words
        self.redrawn[0].taken, self.redrawn[1].taken = bits + 3 * words, bits + 4 * words
        return 0

    cdef int open(self, const ranked_t *first, const ranked_t *second, ties_t ties) except -1 nogil:
        """An empty list of two rankers. What the last one has marked is undone one by one, so this is O(k)."""
        cdef int index
        for index in range(self.n):
            self.seen[self.documents[index] >> 6] = 0
        vacate(&self.sides[0], self.n)
        vacate(&self.sides[1], self.n)
        # Where neither ranker lacks a document there are first.n of them, else at most all of both.
        if max(first.n, second.n) > self.reach or ((first.wide or second.wide) and first.n + second.n > self.reach):
            self.reserve(first.n + second.n)
        self.n, self.n_planned, self.ties = 0, 0, ties
        self.cursor[0] = self.cursor[1] = 0
        self.sides[0].ranked, self.sides[1].ranked = first[0], second[0]
        self.sides[0].left, self.sides[1].left = first.n, second.n
        memset(self.clicked, 0, self.k)
        return 0

    cdef void show(self, int document) noexcept nogil:
        """Append a document."""
        self.documents[self.n] = document
        mark(self.seen, document)
        self.n += 1


cdef class Interleaving:
    """A way to make one list of two rankers' lists, and to tell from the clicks on it which ranker is better.

    >>> from rankduel.interleaving import ProbabilisticInterleaving
    >>> method = ProbabilisticInterleaving()
    >>> shown = method.interleave(["a", "b", "c"], ["c", "b", "a"], k=2, seed=1)
    >>> shown.documents
    ('c', 'b')
    >>> method.outcome(shown, clicks=["c"])
    <Outcome.SECOND: 'second'>
    """

    # What each method declares.

    name = ""  # as in INTERLEAVINGS
    credit_field = ""  # the name, in stored pages, of what credit needs of each position

    @staticmethod
    def check_credit_value(value):
        """Raise ValueError if a value from outside cannot be what credit needs of a position."""
        raise NotImplementedError("an interleaving method must define check_credit_value")

    # The kernels.

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        """Begin a new list."""
        return shown.open(first, second, ties)

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        """Append the next document and return it; -1 when the page is full or there are no more documents."""
        return -1

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        """From `clicked`, a number in [-1, 1]: positive if the first ranker wins, negative if the second, 0 if neither."""
        return 0

    cdef object depth(self, int k):
        """How much of its lists a page of k places needs: None for all."""
        return k

    cdef tuple record(self, Impression shown):
        """What credit needs, position by position."""
        return ()

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        """As `credit_of`, from what `record` has returned, for clicks at these positions."""
        return 0

    # What a user calls.

    def interleave(self, first, second, k=10, seed=None):
        """One list of at most k documents from two rankings, best document first.

        The rankings may differ in length and in what they hold; where one has no more documents, the other goes on;
        if one is empty, all are the other's. Equal seeds give equal lists; and but for `OptimizedInterleaving`, the
        list for a smaller k is the beginning of the list for a larger one: page 2 continues page 1.
        """
        cdef small_t stream
        cdef Lists lists
        cdef Impression shown
        cdef int places
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
        first, second = ranking("first", first), ranking("second", second)
        if not first and not second:
            raise ValueError("both rankings are empty: there is nothing to show")
        places = min(<object>k, len(first) + len(second))
        lists = Lists((first, second), self.depth(places))
        shown = Impression(min(places, lists.n_documents), lists.ranked[0].n + lists.ranked[1].n)
        small_open(&stream, small_seed(fresh_seed() if seed is None else seed))
        self.begin(shown, &stream.rng, &lists.ranked[0], &lists.ranked[1], FILE)
        while self.place(shown, &stream.rng) >= 0:
            pass
        documents = tuple([lists.documents[shown.documents[index]] for index in range(shown.n)])
        return Interleaved(self.name, documents, self.credit_field, self.record(shown))

    def credit(self, shown, clicks):
        """Who deserves the clicks: positive is the first ranker, negative the second, 0 neither; from -1 to 1.

        `clicks` are the clicked documents; how often and in which order does not matter.
        """
        if shown.method != self.name:
            raise ValueError(f"this list was made by {shown.method!r} and cannot be credited by {self.name!r}")
        credit_data = shown.credit_data
        if credit_data is None or shown.credit_field != self.credit_field:
            raise ValueError(f"this list carries no {self.credit_field}, without which its clicks cannot be credited")
        cdef set positions = set()
        for document in clicks:
            try:
                positions.add(shown.documents.index(document))
            except ValueError:
                raise ValueError(f"document {document!r} was clicked but is not on the list") from None
        return self.credit_recorded(credit_data, sorted(positions)) if positions else 0.0

    def outcome(self, shown, clicks):
        """The sign of `credit` as an `Outcome`."""
        credit = self.credit(shown, clicks)
        return Outcome.FIRST if credit > 0 else Outcome.SECOND if credit < 0 else Outcome.TIE


cdef list ranking(str name, object given):
    """A ranking as a list."""
    if isinstance(given, list):
        return given
    if isinstance(given, (set, frozenset, dict)) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} must be a sequence of documents, best first, got {type(given).__name__}")
    return list(given)
