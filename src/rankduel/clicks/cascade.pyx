"""Cascade click model: users read a list from the top down and leave when they are satisfied."""

from libc.stdlib cimport free, malloc

from numpy.random cimport bitgen_t

from rankduel.clicks.base cimport CLICKED, LEFT, ClickModel
from rankduel.randomness.draws cimport uniform

from rankduel.clicks.tables import probabilities

cdef struct grade_t:
    double satisfied  # P(click and leave)
    double click  # P(click)
    double over  # P(click or leave)


cdef class CascadeModel(ClickModel):
    """Cascade click model: the user clicks a document of grade g with probability click[g], and may then leave.

    With stops="after_click", the user leaves after a click with probability stop[g]. This is the dependent click model
    (Guo, Liu, Wang 2009) with satisfaction by grade. With stops="anywhere", the user leaves with this probability at
    every document, clicked or not, as in some simulators. Then there are far fewer clicks.

    >>> from rankduel.clicks import CascadeModel
    >>> user = CascadeModel(click=[0.0, 1.0], stop=[0.0, 0.5])
    >>> user.click([0, 1, 1], seed=1)
    [1]
    >>> user.examination([0, 1, 1]), user.expected_clicks([0, 1, 1])
    ([1.0, 1.0, 0.5], 1.5)
    """

    cdef readonly tuple clicks
    cdef readonly tuple stop
    cdef readonly str stops
    cdef grade_t *table

    def __init__(self, click, stop, stops="after_click"):
        self.clicks, self.stop, self.stops = probabilities("click", click), probabilities("stop", stop), stops
        if len(self.clicks) != len(self.stop):
            raise ValueError(f"click and stop must have the same length, got {len(self.clicks)} and {len(self.stop)}")
        if stops not in ("after_click", "anywhere"):
            raise ValueError(f"stops must be 'after_click' or 'anywhere', got {stops!r}")
        self.n_grades = len(self.clicks)
        free(self.table)
        self.table = <grade_t *>malloc(self.n_grades * sizeof(grade_t))
        if self.table == NULL:
            raise MemoryError
        for grade, (c, s) in enumerate(zip(self.clicks, self.stop)):
            self.table[grade].satisfied, self.table[grade].click = c * s, c
            self.table[grade].over = c + (1 - c) * s if stops == "anywhere" else c

    def __dealloc__(self):
        free(self.table)

    def __repr__(self):
        return f"CascadeModel(click={list(self.clicks)}, stop={list(self.stop)}, stops={self.stops!r})"

    def __reduce__(self):
        return type(self), (self.clicks, self.stop, self.stops)

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil:
        cdef const grade_t *chances = &self.table[grade]
        cdef double u = uniform(rng)  # one draw decides both click and leave
        if u < chances.click:
            return CLICKED | LEFT if u < chances.satisfied else CLICKED
        return LEFT if u < chances.over else 0

    cdef double click_chance(self, int grade):
        return self.table[grade].click

    cdef double stay_chance(self, int position, int grade):
        return 1 - self.table[grade].satisfied - (self.table[grade].over - self.table[grade].click)
