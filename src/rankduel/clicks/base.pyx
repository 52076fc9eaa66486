"""`ClickModel`: the interface of simulated users that examine one document after the other, click and leave."""

from math import fsum

from rankduel.randomness.small cimport CLICKS, small_open, small_seed, small_t

from rankduel.randomness import fresh_seed


cdef class ClickModel:
    """A simulated user that reads a list from the top and judges documents by grade. Grade 0 is not relevant.

    >>> from rankduel.clicks import perfect
    >>> perfect(grades=5).click([0, 4, 0, 4])
    [1, 3]
    """

    cdef int look(self, bitgen_t *rng, int position, int grade) noexcept nogil:
        """Examine the document at a position, from 0. Returns bits of `look_t`. Not called after the user left."""
        return LEFT

    cdef double click_chance(self, int grade):
        """P(click | the user examines a document of this grade)."""
        return 0

    cdef double stay_chance(self, int position, int grade):
        """P(the user goes on | the user examines this document)."""
        return 1

    def click(self, grades, seed=None):
        """Draw the clicks on a list of documents with these grades. Returns the clicked positions, from 0.

        `examination` and `expected_clicks` compute the exact probabilities and expected values.
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
        """Probability that the user examines each position of a list with these grades."""
        cdef list chances = []
        cdef double chance = 1
        for position, grade in enumerate(self.known(grades)):
            chances.append(chance)
            chance *= self.stay_chance(position, grade)
        return chances

    def expected_clicks(self, grades):
        """Expected number of clicks on a list with these grades."""
        return fsum(
            chance * self.click_chance(grade) for chance, grade in zip(self.examination(grades), self.known(grades))
        )

    cdef list known(self, object grades):
        """Return the grades as a list. ValueError if the model does not support one of them."""
        cdef list known = list(grades)
        for position, grade in enumerate(known):
            if isinstance(grade, bool) or not hasattr(grade, "__index__") or not 0 <= grade < self.n_grades:
                raise ValueError(
                    f"grade at position {position} must be a whole number from 0 to {self.n_grades - 1}, got {grade!r}"
                )
        return known
