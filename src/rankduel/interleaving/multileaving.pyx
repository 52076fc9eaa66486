"""Base classes of multileaving methods: the list being built, its ties, and the Python interface."""

import numpy as np

cimport numpy as cnp
from libc.limits cimport INT_MAX
from libc.math cimport fmax, pow
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from rankduel.interleaving.multileaved import Multileaved
from rankduel.randomness import fresh_seed
from rankduel.randomness.small cimport small_open, small_seed, small_t
from rankduel.rankings.lists cimport Lists
from rankduel.rankings.ranked cimport CONSISTENT, REDRAW

cnp.import_array()


def positive(name, value):
    """Validate a finite number above 0, and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a number > 0, got {value!r}")
    return float(value)


cdef class MultiImpression:
    """The multileaved list being built: a page of k places, with memory that is reused for each list."""

    def __cinit__(self, k):
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < 2**20:
            raise ValueError(f"k must be a whole number from 1 to {2**20 - 1}, got {k!r}")
        self.k = k
        self.documents = <int *>malloc(self.k * sizeof(int))
        self.teams = <int *>malloc(self.k * sizeof(int))
        self.starts = <int *>malloc(self.k * sizeof(int))
        self.clicked = <uint8_t *>calloc(self.k, 1)
        if self.documents == NULL or self.teams == NULL or self.starts == NULL or self.clicked == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.documents)
        free(self.teams)
        free(self.starts)
        free(self.clicked)
        free(self.rows)
        free(self.turns)
        free(self.weights)
        free(self.marks)

    cdef int open(self, const ranked_t *rankers, int n_rankers, ties_t ties, int width) except -1 nogil:
        """Begin an empty page for these rankers."""
        cdef size_t room = n_rankers, k = self.k
        if n_rankers > self.room:
            free(self.rows)
            free(self.turns)
            self.room = 0
            self.rows = <double *>malloc((k * (room + 2) + 2 * room + 2 * (2 * k + 3) * room) * sizeof(double))
            self.turns = <int *>malloc((3 * room + 3 * k * room) * sizeof(int))
            if self.rows == NULL or self.turns == NULL:
                with gil:
                    raise MemoryError
            self.room = n_rankers
            self.left = self.rows + k * (room + 2)
            self.scores = self.left + room
            self.walk = self.scores + room
            self.latest = self.turns + room
            self.n_left = self.latest + room
            self.places = self.n_left + room
            self.pool = self.places + k * room
            self.tops = self.pool + k * room
        self.epoch += 1
        if self.epoch == 0:  # after 2^32 pages
            memset(self.marks, 0, self.n_marks * sizeof(uint32_t))
            self.epoch = 1
        self.n = self.n_pool = 0
        self.rankers, self.n_rankers, self.ties, self.width = rankers, n_rankers, ties, width
        return 0

    cdef int weigh(self, double tau, int n) except -1 nogil:
        """Compute the weights of n places, unless they are known."""
        cdef int p, room
        if tau == self.tau and n <= self.n_weights:
            return 0
        room = max(n, 2 * self.n_weights)
        free(self.weights)
        self.n_weights = 0
        self.weights = <double *>malloc((2 * <size_t>room + 1) * sizeof(double))
        if self.weights == NULL:
            with gil:
                raise MemoryError
        self.masses = self.weights + room
        self.masses[0] = 0
        for p in range(room):
            self.weights[p] = fmax(pow(p + 1, -tau), 1e-300)  # so that no document is impossible, even for a large tau
            self.masses[p + 1] = self.masses[p] + self.weights[p]
        self.tau, self.n_weights = tau, room
        return 0

    cdef int mark(self, int document) except -1 nogil:
        cdef uint32_t *larger
        cdef int room
        if document >= self.n_marks:
            room = max(document + 1, 2 * self.n_marks)
            larger = <uint32_t *>realloc(self.marks, room * sizeof(uint32_t))
            if larger == NULL:
                with gil:
                    raise MemoryError
            memset(larger + self.n_marks, 0, (room - self.n_marks) * sizeof(uint32_t))
            self.marks, self.n_marks = larger, room
        self.marks[document] = self.epoch
        return 0

    cdef int show(self, int document) except -1 nogil:
        """Append a document to the page."""
        self.mark(document)
        self.documents[self.n] = document
        self.clicked[self.n] = 0
        self.n += 1
        return 0

    cdef void rank_shown(self, int offset, bint all) noexcept nogil:
        """Set rows[i, offset + r] to the rank, from 1, of document i among those shown, in the order of ranker r.

        For clicked documents only, or for all. Documents that a ranker does not have are tied, after all that it has.
        """
        cdef int r, i, j, n = self.n, rank, same, document, start
        cdef int *starts = self.starts
        for r in range(self.n_rankers):
            for j in range(n):
                start = start_of(&self.rankers[r], self.documents[j])
                starts[j] = start if start != ABSENT else INT_MAX
            for i in range(n):
                if all or self.clicked[i]:
                    start, rank, same = starts[i], 1, 0
                    for j in range(n):
                        rank += starts[j] < start
                        same += starts[j] == start
                    if same > 1:
                        document = self.documents[i]
                        for j in range(n):
                            if starts[j] == start and j != i:
                                rank += tie_key(self, r, self.documents[j]) < tie_key(self, r, document)
                    self.rows[<size_t>i * self.width + offset + r] = rank


cdef class Multileaving:
    """Base class of multileaving methods: merge many rankings into one page, and turn clicks into preferences.

    `multileave` makes the list that a user sees, and `preferences` credits the clicks on it. Rankings are sequences of
    hashable documents, best first. They may have different lengths and different documents. Documents that a ranker
    does not have come after all documents that it has, in a random order for each list.
    """

    def __init__(self, **parameters):
        self._parameters = parameters

    # The kernel: `begin` a page, `place` documents on it one by one, set `clicked`, and `prefer`.

    cdef int width_of(self, int n_rankers) noexcept nogil:
        """Length of a row of evidence."""
        return n_rankers

    cdef int begin(
        self, MultiImpression shown, bitgen_t *rng, const ranked_t *rankers, int n_rankers, ties_t ties
    ) except -1 nogil:
        """Begin an empty page. Do not move the tables of the rankers until the page is credited."""
        if ties == REDRAW:
            with gil:
                raise ValueError("ties must be 'file' or 'consistent' for multileaving, got 'redraw'")
        shown.open(rankers, n_rankers, ties, self.width_of(n_rankers))
        if ties == CONSISTENT:
            shown.key = rng.next_uint64(rng.state)
        return 0

    cdef int place(self, MultiImpression shown, bitgen_t *rng) except -2 nogil:
        """Append the next document and return it. -1 if the page is full or there are no more documents."""
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must define place()")

    cdef int prefer(self, MultiImpression shown, double *preferences) except -1 nogil:
        """Compute the antisymmetric matrix [n_rankers, n_rankers]: positive at [x, y] if x is preferred to y."""
        self.witness(shown, False)
        return self.credit(shown, preferences)

    cdef int witness(self, MultiImpression shown, bint all) except -1 nogil:
        """Compute the rows of clicked documents, or all rows, unless `place` did."""
        return 0

    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil:
        """Compute the preferences from the rows."""
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must define credit()")

    # The public interface.

    def multileave(self, rankings, k=10, seed=None):
        """Merge rankings into one list of at most k documents.

        Equal seeds give equal lists, and a longer list begins with the shorter one.

        >>> from rankduel.interleaving import TeamDraftMultileaving
        >>> TeamDraftMultileaving().multileave([["a", "b", "c"], ["a", "c", "d"]], k=3, seed=1).documents
        ('a', 'c', 'b')
        """
        cdef MultiImpression shown = MultiImpression(k)
        cdef Lists lists = Lists(rankings)
        cdef small_t stream
        if lists.n_rankings == 0:
            raise ValueError("rankings must have at least one ranking, got none")
        small_open(&stream, small_seed(fresh_seed() if seed is None else seed))
        with nogil:
            self.begin(shown, &stream.rng, lists.ranked, lists.n_rankings, CONSISTENT)
            while self.place(shown, &stream.rng) >= 0:
                pass
            self.witness(shown, True)
        documents = tuple([lists.documents[shown.documents[i]] for i in range(shown.n)])
        return Multileaved(repr(self), shown.n_rankers, documents, self._evidence(shown))

    def preferences(self, shown, clicks):
        """Credit the clicked documents of a list: a matrix, positive at [x, y] if ranker x is preferred to y."""
        cdef MultiImpression page = self._page(shown, clicks)
        preferences = np.zeros((page.n_rankers, page.n_rankers))
        self.credit(page, <double *>cnp.PyArray_DATA(preferences))
        return preferences

    @property
    def parameters(self):
        """Parameters of the method by name."""
        return dict(self._parameters)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._parameters.items())})"

    def __reduce__(self):
        return type(self)._made, (self._parameters,)

    @classmethod
    def _made(cls, parameters):
        return cls(**parameters)

    def _evidence(self, MultiImpression shown):
        cdef int i, j
        return tuple(
            [tuple([int(shown.rows[i * shown.width + j]) for j in range(shown.width)]) for i in range(shown.n)]
        )

    def _page(self, shown, clicks):
        """Create the page of a list, with its rows and clicks."""
        cdef MultiImpression page
        cdef int i
        if not isinstance(shown, Multileaved):
            raise TypeError(f"shown must be a Multileaved, as multileave() returns it, got {shown!r}")
        if shown.method != repr(self):
            raise ValueError(f"a list of method {shown.method} cannot be credited by {self!r}")
        if shown.n_rankers < 1:
            raise ValueError(f"n_rankers must be at least 1, got {shown.n_rankers}")
        places = {document: place for place, document in enumerate(shown.documents)}
        rows = self._checked(shown, self.width_of(shown.n_rankers))
        page = MultiImpression(max(1, len(shown.documents)))
        page.open(NULL, shown.n_rankers, CONSISTENT, self.width_of(shown.n_rankers))
        memcpy(page.rows, cnp.PyArray_DATA(rows), rows.nbytes)
        page.n = len(shown.documents)
        for document in clicks:
            if document not in places:
                raise ValueError(f"clicked document {document!r} is not on the list")
            i = places[document]
            page.clicked[i] = 1
        return page

    def _checked(self, shown, width):
        """Validate the evidence and convert it to an array. It may come from a file, and kernels trust it."""
        n = len(shown.documents)
        rows = np.array(shown.evidence, float) if n else np.zeros((0, width))
        if rows.shape != (n, width):
            raise ValueError(f"evidence must be {n} rows of {width}, one per document, got {shown.evidence!r:.100}")
        low, high = self._limits(n, shown.n_rankers)
        wrong = ~((rows >= low) & (rows <= high))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(f"evidence[{i}][{j}] must be from {low[j]:g} to {high[j]:g}, got {rows[i, j]:g}")
        return rows

    def _limits(self, n, n_rankers):
        """The smallest and the largest valid number in each column of the evidence."""
        raise NotImplementedError(f"{type(self).__name__} must define _limits()")


cdef class ScoredMultileaving(Multileaving):
    """Base class of methods with a score for each ranker: x is preferred to y if its score is higher."""

    cdef int score(self, MultiImpression shown, double *scores) except -1 nogil:
        """Compute the score of each ranker. `prefer` compares these scores. The cost is O(n_rankers)."""
        self.witness(shown, False)
        return self.points(shown, scores)

    cdef int points(self, MultiImpression shown, double *scores) except -1 nogil:
        """Compute the scores from the rows."""
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must define points()")

    cdef int credit(self, MultiImpression shown, double *preferences) except -1 nogil:
        cdef int x, y, n = shown.n_rankers
        cdef double *scores = shown.scores
        cdef double *row
        cdef double ahead, mine
        self.points(shown, scores)
        for x in range(n):
            row, mine = preferences + <size_t>x * n, scores[x]
            for y in range(n):
                ahead = mine - scores[y]
                row[y] = (1.0 if ahead > TIED else 0.0) - (1.0 if ahead < -TIED else 0.0)
        return 0

    def scores(self, shown, clicks):
        """Compute the score of each ranker from the clicked documents of a list."""
        cdef MultiImpression page = self._page(shown, clicks)
        scores = np.zeros(page.n_rankers)
        self.points(page, <double *>cnp.PyArray_DATA(scores))
        return scores
