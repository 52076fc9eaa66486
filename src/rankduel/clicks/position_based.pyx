"""Position-based click models: examination depends on the position alone."""

from libc.limits cimport INT_MAX
from libc.stdlib cimport free, malloc

from numpy.random cimport bitgen_t

from rankduel.clicks.base cimport CLICKED, LEFT, ClickModel
from rankduel.randomness.draws cimport uniform

from rankduel.clicks.tables import probabilities


cdef class PositionBased(ClickModel):
    """Position-based click model: the user examines position i with probability examination[i], and clicks an examined
    document of grade g with probability click[g].

    Positions are independent of each other (Craswell et al. 2008). Positions beyond the table are never examined.

    >>> from rankduel.clicks import PositionBased
    >>> user = PositionBased(examination=[1.0, 0.5], click=[0.0, 1.0])
    >>> user.expected_clicks([1, 1, 1])
    1.5
    """

    cdef readonly tuple examinations
    cdef readonly tuple clicks
    cdef int n_positions
    cdef double *by_position
    cdef double *by_grade

    def __init__(self, examination, click):
        self.examinations, self.clicks = probabilities("examination", examination), probabilities("click", click)
        self.n_positions, self.n_grades = len(self.examinations), len(self.clicks)
        free(self.by_position)
        self.by_position = <double *>malloc((self.n_positions + self.n_grades) * sizeof(double))
        if self.by_position == NULL:
            raise MemoryError
        self.by_grade = self.by_position + self.n_positions
        for index, chance in enumerate(self.examinations + self.clicks):
            self.by_position[index] = chance

    def __dealloc__(self):
        free(self.by_position)

    def __repr__(self):
        return f"PositionBased(examination={list(self.examinations)}, click={list(self.clicks)})"

    def __reduce__(self):
        return type(self), (self.examinations, self.clicks)

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil:
        if position >= self.n_positions:
            return LEFT
        return CLICKED if uniform(rng) < self.by_position[position] * self.by_grade[grade] else 0

    def examination(self, grades):
        """Probability that the user examines each position of a list with these grades."""
        return [self.by_position[position] if position < self.n_positions else 0.0 for position, _ in enumerate(grades)]

    cdef double click_chance(self, int grade):
        return self.by_grade[grade]


cdef class RandomUser(ClickModel):
    """Random clicks for tests of bias: the user clicks every document with probability p.

    >>> from rankduel.clicks import RandomUser
    >>> RandomUser(0.25).expected_clicks([4, 0])
    0.5
    """

    cdef readonly double p

    def __init__(self, p=0.5):
        (self.p,) = probabilities("p", [p])
        self.n_grades = INT_MAX

    def __repr__(self):
        return f"RandomUser(p={self.p})"

    def __reduce__(self):
        return type(self), (self.p,)

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil:
        return CLICKED if uniform(rng) < self.p else 0

    cdef double click_chance(self, int grade):
        return self.p
