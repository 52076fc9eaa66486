"""Interface of interleaving methods: begin a list, place one document after the other, credit the clicks."""

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
    """The list being built, with the memory for lists of up to k places. You can reuse it. Use one per thread.

    >>> from rankduel.interleaving import Impression
    >>> Impression(10, 120).k
    10
    """

    def __cinit__(self, int k, int n_documents):
        cdef int j
        if k < 1 or n_documents < 0:
            raise ValueError(f"k must be at least 1 and n_documents at least 0, got {k} and {n_documents}")
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
        """Allocate memory for queries of n documents. If the memory grows, the current list is lost."""
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
        """Begin an empty list of two rankers. Clears the marks of the last list one by one, which is O(k)."""
        cdef int index
        for index in range(self.n):
            self.seen[self.documents[index] >> 6] = 0
        vacate(&self.sides[0], self.n)
        vacate(&self.sides[1], self.n)
        # If both rankers have all documents, there are first.n of them, and otherwise at most first.n + second.n.
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
    """Base class of interleaving methods: merge two rankings into one page, and decide from clicks which one won.

    >>> from rankduel.interleaving import ProbabilisticInterleaving
    >>> method = ProbabilisticInterleaving()
    >>> shown = method.interleave(["a", "b", "c"], ["c", "b", "a"], k=2, seed=1)
    >>> shown.documents
    ('c', 'b')
    >>> method.outcome(shown, clicks=["c"])
    <Outcome.SECOND: 'second'>
    """

    # Each method declares these, and `__init__`, `__reduce__` and `__repr__`: tournaments store the text of `repr`, and
    # `interleaving_from` parses it.

    name = ""  # as in INTERLEAVINGS
    credit_field = ""  # name, in stored pages, of the credit data of each position

    @staticmethod
    def check_credit_value(value):
        """Raise ValueError if a value from outside is not valid credit data of a position."""
        raise NotImplementedError("an interleaving method must define check_credit_value")

    # The kernels.

    cdef int begin(
        self, Impression shown, bitgen_t *rng, const ranked_t *first, const ranked_t *second, ties_t ties
    ) except -1 nogil:
        """Begin a new list."""
        return shown.open(first, second, ties)

    cdef int place(self, Impression shown, bitgen_t *rng) except -2 nogil:
        """Append the next document and return it. -1 if the page is full or there are no more documents."""
        return -1

    cdef double credit_of(self, Impression shown, bitgen_t *rng) except? -2 nogil:
        """Compute the credit of `clicked`, in [-1, 1]: positive if the first ranker wins, negative if the second."""
        return 0

    cdef object depth(self, int k):
        """Number of documents of each list that a page of k places needs. None for all."""
        return k

    cdef tuple record(self, Impression shown):
        """Credit data, position by position."""
        return ()

    cdef double credit_recorded(self, tuple credit_data, list positions) except? -2:
        """Like `credit_of`, from the credit data of `record` and the clicked positions."""
        return 0

    # The public interface.

    def interleave(self, first, second, k=10, seed=None):
        """Merge two rankings, best document first, into one list of at most k documents.

        The rankings may have different lengths and different documents. When one has no more documents, the other fills
        the page. Equal seeds give equal lists. The list for a smaller k is the beginning of the list for a larger k, so
        that page 2 continues page 1, except with `OptimizedInterleaving`.
        """
        cdef small_t stream
        cdef Lists lists
        cdef Impression shown
        cdef int places
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
        first, second = ranking("first", first), ranking("second", second)
        if not first and not second:
            raise ValueError("both rankings are empty, expected at least one document")
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
        """Credit the clicks on a list: from -1 to 1, positive for the first ranker, negative for the second.

        `clicks` are the clicked documents. Their order and repeated clicks do not matter.
        """
        if shown.method != self.name:
            raise ValueError(f"a list of method {shown.method!r} cannot be credited by {self.name!r}")
        credit_data = shown.credit_data
        if credit_data is None or shown.credit_field != self.credit_field:
            raise ValueError(f"the list has no {self.credit_field}, so its clicks cannot be credited")
        cdef set positions = set()
        for document in clicks:
            try:
                positions.add(shown.documents.index(document))
            except ValueError:
                raise ValueError(f"document {document!r} was clicked but is not on the list") from None
        return self.credit_recorded(credit_data, sorted(positions)) if positions else 0.0

    def outcome(self, shown, clicks):
        """Credit the clicks on a list, as an `Outcome`: the sign of `credit`."""
        credit = self.credit(shown, clicks)
        return Outcome.FIRST if credit > 0 else Outcome.SECOND if credit < 0 else Outcome.TIE


cdef list ranking(str name, object given):
    """Convert a ranking to a list."""
    if isinstance(given, list):
        return given
    if isinstance(given, (set, frozenset, dict)) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} must be a sequence of documents, best first, got {type(given).__name__}")
    return list(given)
