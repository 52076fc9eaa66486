"""`ClickModel`: the interface of simulated users, who examine one document after the other, click and leave."""

from math import fsum

from rankduel.randomness.small cimport CLICKS, small_open, small_seed, small_t

from rankduel.randomness import fresh_seed


cdef class ClickModel:
    """A user who looks at a list from the top. What they see of a document is its grade: 0 is not relevant.

    >>> from rankduel.clicks import perfect
    >>> perfect(grades=5).click([0, 4, 0, 4])
    [1, 3]
    """

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil:
        """Look at the document at a position, from 0: bits of `look_t`. Not asked again once the user has left."""
        return LEFT

    cdef double click_chance(self, int grade):
        """P(click | the user looks at a document of this grade)."""
        return 0

    cdef double stay_chance(self, int position, int grade):
        """P(the user looks further | the user looks at this document)."""
        return 1

    def click(self, grades, seed=None):
        """The positions, from 0, that this user clicks on a list whose documents have these grades.

        `examination` and `expected_clicks` say what to expect, exactly.
        """
        cdef small_t stream
        cdef int position, answer
        cdef list known = self.known(grades), clicked = []
        small_open(&stream, small_seed(fresh_seed() if seed is None else seed, CLICKS))
        for position in range(len(known)):
            answer = self.look(&stream.rng, position, known[position])
            if answer & CLICKED:
                clicked.append(position)
            if answer & LEFT:
                break
        return clicked

    def examination(self, grades):
        """The chance that the user gets to look at each position of such a list."""
        cdef list chances = []
        cdef double chance = 1
        for position, grade in enumerate(self.known(grades)):
            chances.append(chance)
            chance *= self.stay_chance(position, grade)
        return chances

    def expected_clicks(self, grades):
        """How many clicks such a list gets on average."""
        return fsum(
            chance * self.click_chance(grade) for chance, grade in zip(self.examination(grades), self.known(grades))
        )

    cdef list known(self, object grades):
        """The grades of a list, if the model knows them all."""
        cdef list known = list(grades)
        for position, grade in enumerate(known):
            if isinstance(grade, bool) or not hasattr(grade, "__index__") or not 0 <= grade < self.n_grades:
                raise ValueError(
                    f"grade {grade!r} at position {position}: this user knows the grades 0 to {self.n_grades - 1}"
                )
        return known
