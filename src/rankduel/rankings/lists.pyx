"""Convert rankings, given as lists of documents, into tables for the kernels."""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from rankduel.rankings.ranked cimport ABSENT


cdef class Lists:
    """Rankings of one query, best document first. Documents may be any hashable values.

    The rankings may have different lengths and different documents. If `depth` is given, only the first `depth`
    documents of each ranking are used. A document that occurs twice in one ranking is an error.

    >>> from rankduel.rankings import Lists
    >>> Lists([["a", "b"], ["c", "a"]]).documents
    ['a', 'b', 'c']
    """

    def __init__(self, rankings, depth=None):
        cdef int32_t *order
        cdef int32_t *start
        cdef int place, total = 0, document
        cdef dict numbers = {}
        cdef list cut = []
        for ranking in rankings:
            ranking = list(ranking) if depth is None else list(ranking[:depth])
            for name in ranking:
                if name not in numbers:
                    numbers[name] = len(numbers)
            total += len(ranking)
            cut.append(ranking)
        self.documents = list(numbers)
        self.n_documents, self.n_rankings = len(numbers), len(cut)
        self.ranked = <ranked_t *>calloc(max(1, self.n_rankings), sizeof(ranked_t))
        self.memory = <int32_t *>malloc((total + self.n_rankings * self.n_documents + 1) * sizeof(int32_t))
        if self.ranked == NULL or self.memory == NULL:
            raise MemoryError
        memset(self.memory, 0xFF, (total + self.n_rankings * self.n_documents) * sizeof(int32_t))  # all ABSENT
        order = self.memory
        for number, ranking in enumerate(cut):
            start = order + len(ranking)
            place = 0
            for name in ranking:
                document = numbers[name]
                if start[document] != ABSENT:
                    raise ValueError(
                        f"document {name!r} occurs twice in ranking {number}: at {start[document]} and {place}"
                    )
                order[place], start[document] = document, place
                place += 1
            self.ranked[number].order, self.ranked[number].start = order, start
            self.ranked[number].n, self.ranked[number].wide = place, True
            order = start + self.n_documents

    def __dealloc__(self):
        free(self.ranked)
        free(self.memory)
