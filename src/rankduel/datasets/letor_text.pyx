"""Parse LETOR and SVMlight text in C, line by line: `grade qid:Q 1:v 2:v ... # comment`."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from rankduel.datasets.letor_numbers cimport after_blanks, is_digit, is_end, read_number
from rankduel.errors import DatasetError

cnp.import_array()

cdef enum:
    MAX_GRADE = 30
    MAX_FEATURE = 65_535

cdef enum fault_t:
    NONE
    GRADE
    QID
    FEATURE
    VALUE
    NOT_A_NUMBER
    TWICE
    MEMORY

cdef dict EXPECTED = {
    GRADE: f"a whole grade from 0 to {MAX_GRADE}",
    QID: "qid: and the query's name",
    FEATURE: f"feature:value, with a feature from 1 to {MAX_FEATURE}",
    VALUE: "a number for feature {feature}",
    NOT_A_NUMBER: "a number for feature {feature} that can be ranked",
    TWICE: "feature {feature} only once in a line",
}


cdef class LetorText:
    """Parser of LETOR text: feed it chunks of whole lines, and take the complete queries.

    The lines of a query are consecutive: another qid or another file begins another query. Blank lines and comments are
    skipped. A missing feature is 0. Features may be in any order.

    >>> text = LetorText()
    >>> text.open("example.txt")
    >>> text.feed(b"2 qid:a 1:3 3:.5 # good\\n0 qid:a 2:1e1\\n\\n1 qid:b\\n")
    >>> text.documents_ready  # query b may not be complete
    2
    >>> text.close()
    >>> scores, offsets, grades, queries, lines = text.take()
    >>> scores.tolist(), offsets.tolist(), grades.tolist(), queries, lines
    ([[3.0, 0.0, 0.5], [0.0, 10.0, 0.0], [0.0, 0.0, 0.0]], [0, 2, 3], [2, 0, 1], ['a', 'b'], [1, 4])
    >>> text.feed(b"1 qid:b 1:a lot\\n")
    Traceback (most recent call last):
    ...
    rankduel.errors.DatasetError: example.txt:5: expected a number for feature 1, got 'a'
    """

    cdef object path
    cdef int64_t line
    cdef readonly int64_t n_features  # the highest so far
    cdef bint is_open  # the last query may not be complete
    cdef int64_t documents, queries, letters  # used entries of the arrays below
    cdef int64_t width, documents_capacity, queries_capacity, letters_capacity
    cdef double *values  # [document, feature], rows of width
    cdef uint8_t *grades
    cdef int64_t *begins  # first document of each query
    cdef int64_t *lines  # first line of each query
    cdef int64_t *names  # end of the name of each query, in `characters`
    cdef char *characters  # all names, concatenated
    cdef int64_t *seen  # the last line with each feature
    cdef int64_t feature  # feature and position of a fault
    cdef const char *at

    def __cinit__(self):
        self.path = "?"
        if not self.widen(256) or not self.more_documents() or not self.more_queries() or not self.more_letters(256):
            raise MemoryError

    def __dealloc__(self):
        free(self.values)
        free(self.grades)
        free(self.begins)
        free(self.lines)
        free(self.names)
        free(self.characters)
        free(self.seen)

    def open(self, path):
        """Begin a file."""
        self.path, self.line = path, 0
        memset(self.seen, 0, (self.width + 1) * sizeof(int64_t))

    def close(self):
        """End the file. Its last query is now complete."""
        self.is_open = False

    def feed(self, bytes text not None):
        """Parse whole lines. DatasetError names the file and line of the first fault."""
        cdef const char *c = text
        cdef const char *end = c + len(text)
        cdef fault_t fault
        if not text.endswith(b"\n"):
            raise ValueError(f"text must end with a newline, got {bytes(text[-40:])!r} at its end")
        with nogil:
            fault = self.read(c, end)
        if fault == MEMORY:
            raise MemoryError
        if fault != NONE:
            expected = EXPECTED[fault].format(feature=self.feature)
            raise DatasetError(f"{self.path}:{self.line}: expected {expected}, got {self.piece(text[self.at - c :])}")

    cdef piece(self, bytes rest):
        """The word at the fault, for the error message."""
        words = rest.partition(b"\n")[0].partition(b"#")[0].split(maxsplit=1)
        return repr(words[0][:40].decode("utf-8", "backslashreplace")) if words else "the end of the line"

    @property
    def documents_ready(self):
        """Number of documents of complete queries that `take` will return."""
        return self.begins[self.queries - 1] if self.is_open else self.documents

    def take(self):
        """Take the complete queries: scores[document, feature], offsets, grades, names and the first line of each."""
        cdef int64_t n = self.documents_ready, Q = self.queries - self.is_open, R = self.n_features, d, q, cut
        scores = np.empty((n, R))
        cdef double[:, ::1] rows = scores
        for d in range(n if R else 0):
            memcpy(&rows[d, 0], self.values + d * self.width, R * sizeof(double))
        offsets = np.array([*(self.begins[q] for q in range(Q)), n], np.int64)
        grades = np.empty(n, np.uint8)
        memcpy(cnp.PyArray_DATA(grades), self.grades, n)
        cut = 0
        names = []
        for q in range(Q):
            names.append(self.characters[cut : self.names[q]].decode("utf-8", "backslashreplace"))
            cut = self.names[q]
        lines = [self.lines[q] for q in range(Q)]
        # Keep the incomplete query.
        self.documents -= n
        self.queries -= Q
        memmove(self.values, self.values + n * self.width, self.documents * self.width * sizeof(double))
        memmove(self.grades, self.grades + n, self.documents)
        if self.queries:
            self.begins[0], self.lines[0], self.names[0] = 0, self.lines[Q], self.names[Q] - cut
            memmove(self.characters, self.characters + cut, self.letters - cut)
            self.letters -= cut
        else:
            self.letters = 0
        return scores, offsets, grades, names, lines

    cdef fault_t read(self, const char *c, const char *end) noexcept nogil:
        cdef fault_t fault
        while c < end:
            self.line += 1
            c = after_blanks(c)
            if c[0] != 10 and c[0] != 35:
                fault = self.read_line(&c)
                if fault != NONE:
                    return fault
            if c[0] != 10:
                c = <const char *>memchr(c, 10, end - c)
            c += 1
        return NONE

    cdef fault_t read_line(self, const char **text) noexcept nogil:
        """Parse one line, up to its comment or end. Every loop below ends at a newline."""
        cdef const char *c = text[0]
        cdef const char *word
        cdef double *row
        cdef double value
        cdef int64_t feature
        self.at = c
        c = read_number(c, &value)
        if c == NULL or not 0 <= value <= MAX_GRADE or value != <int>value:
            return GRADE
        if self.documents == self.documents_capacity and not self.more_documents():
            return MEMORY
        self.grades[self.documents] = <uint8_t>value

        self.at = c = after_blanks(c)
        if not (c[0] == 113 and c[1] == 105 and c[2] == 100 and c[3] == 58) or is_end(c[4]):  # qid:
            return QID
        word = c + 4
        while not is_end(c[0]):
            c += 1
        if not self.same_query(word, c - word) and not self.new_query(word, c - word):
            return MEMORY

        row = self.values + self.documents * self.width
        memset(row, 0, self.width * sizeof(double))
        while True:
            c = after_blanks(c)
            if c[0] == 10 or c[0] == 35:
                break
            self.at, feature = c, 0
            while is_digit(c[0]) and feature <= MAX_FEATURE:
                feature = 10 * feature + (c[0] - 48)
                c += 1
            if c[0] != 58 or feature == 0 or feature > MAX_FEATURE:
                return FEATURE
            if feature > self.width:
                if not self.widen(2 * feature):
                    return MEMORY
                row = self.values + self.documents * self.width
            self.feature = feature
            if self.seen[feature] == self.line:
                return TWICE
            self.seen[feature] = self.line
            self.at = c + 1
            c = read_number(c + 1, &row[feature - 1])
            if c == NULL:
                return VALUE
            if row[feature - 1] != row[feature - 1]:
                return NOT_A_NUMBER
            self.n_features = max(self.n_features, feature)
        self.documents += 1
        text[0] = c
        return NONE

    cdef bint same_query(self, const char *word, int64_t length) noexcept nogil:
        cdef int64_t begin
        if not self.is_open:
            return False
        begin = self.names[self.queries - 2] if self.queries > 1 else 0
        return self.letters - begin == length and memcmp(self.characters + begin, word, length) == 0

    cdef bint new_query(self, const char *word, int64_t length) noexcept nogil:
        if self.queries == self.queries_capacity and not self.more_queries():
            return False
        if self.letters + length > self.letters_capacity and not self.more_letters(length):
            return False
        memcpy(self.characters + self.letters, word, length)
        self.letters += length
        self.begins[self.queries] = self.documents
        self.lines[self.queries] = self.line
        self.names[self.queries] = self.letters
        self.queries += 1
        self.is_open = True
        return True

    cdef bint more_documents(self) noexcept nogil:
        cdef int64_t capacity = 2 * self.documents_capacity + 64
        cdef void *values = realloc(self.values, capacity * self.width * sizeof(double))
        cdef void *grades
        if values == NULL:
            return False
        self.values = <double *>values
        grades = realloc(self.grades, capacity)
        if grades == NULL:
            return False
        self.grades, self.documents_capacity = <uint8_t *>grades, capacity
        return True

    cdef bint more_queries(self) noexcept nogil:
        cdef int64_t capacity = 2 * self.queries_capacity + 64
        cdef void *grown = realloc(self.begins, capacity * sizeof(int64_t))
        if grown == NULL:
            return False
        self.begins = <int64_t *>grown
        grown = realloc(self.lines, capacity * sizeof(int64_t))
        if grown == NULL:
            return False
        self.lines = <int64_t *>grown
        grown = realloc(self.names, capacity * sizeof(int64_t))
        if grown == NULL:
            return False
        self.names, self.queries_capacity = <int64_t *>grown, capacity
        return True

    cdef bint more_letters(self, int64_t length) noexcept nogil:
        cdef int64_t capacity = 2 * self.letters_capacity + length
        cdef void *grown = realloc(self.characters, capacity)
        if grown == NULL:
            return False
        self.characters, self.letters_capacity = <char *>grown, capacity
        return True

    cdef bint widen(self, int64_t width) noexcept nogil:
        """Increase the number of features. The new features are 0 in all documents, also in the one being read."""
        cdef int64_t d, rows = min(self.documents + 1, self.documents_capacity)
        cdef void *grown = realloc(self.seen, (width + 1) * sizeof(int64_t))
        if grown == NULL:
            return False
        self.seen = <int64_t *>grown
        memset(self.seen + self.width + 1, 0, (width - self.width) * sizeof(int64_t))  # seen[0] is not used
        grown = realloc(self.values, self.documents_capacity * width * sizeof(double) + 1)
        if grown == NULL:
            return False
        self.values = <double *>grown
        for d in range(rows - 1, -1, -1):
            memmove(self.values + d * width, self.values + d * self.width, self.width * sizeof(double))
            memset(self.values + d * width + self.width, 0, (width - self.width) * sizeof(double))
        self.width = width
        return True
