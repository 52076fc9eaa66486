# Ratings of arms by a logistic model, how far pairs deviate from it, and the opponent that beats each arm most clearly.

from libc.math cimport exp
from libc.stdint cimport int64_t, uint8_t

cdef struct rating_t:
    double mean, variance  # of the arm's rating: p = 1 / (1 + exp(other - rating))
    double nemesis_score  # lead^2 / n of the nemesis over this arm
    int64_t nemesis  # the opponent that has beaten it most clearly; -1: none has


cdef class Ratings:
    cdef readonly dict arrays
    cdef rating_t *arms
    cdef double *deviation  # [sum, weight] of the squared deviations of pairs from their prediction
    cdef double trust  # the weight of a prediction, in duels
    cdef double model_variance  # of a rating, because pairs deviate from the model

    cdef void set_trust(self) noexcept nogil
    cdef void record_deviation(self, double won, double lost, double expected) noexcept nogil


# Here, and not in the class, so that the compiler inlines them into the kernel that uses them.

cdef inline double odds(Ratings ratings, int i, int j) noexcept nogil:
    """Odds of arm i against arm j, by their ratings."""
    return exp(ratings.arms[i].mean - ratings.arms[j].mean)


cdef inline double predict(Ratings ratings, int i, int j) noexcept nogil:
    """The chance of arm i to win against arm j, by their ratings."""
    return 1 / (1 + odds(ratings, j, i))


cdef inline void update_ratings(Ratings ratings, int winner, int loser, double expected) noexcept nogil:
    """One step of an extended Kalman filter for the logistic model."""
    cdef rating_t *x = &ratings.arms[winner]
    cdef rating_t *y = &ratings.arms[loser]
    cdef double information = expected * (1 - expected)
    cdef double total = 1 + information * (x.variance + y.variance)
    x.mean += x.variance * (1 - expected) / total
    y.mean -= y.variance * (1 - expected) / total
    x.variance -= x.variance * x.variance * information / total
    y.variance -= y.variance * y.variance * information / total


cdef inline void update_nemesis(
    Ratings ratings, const uint8_t *gone, int arm, int other, double lost, double won
) noexcept nogil:
    """Make an opponent with this record the nemesis of an arm if none that is left has beaten it more clearly."""
    cdef rating_t *x = &ratings.arms[arm]
    cdef double score = (lost - won) * (lost - won) / (lost + won) if lost > won else 0
    if other == x.nemesis:
        x.nemesis_score = score
    elif score > x.nemesis_score or (score > 0 and x.nemesis >= 0 and gone[x.nemesis]):
        x.nemesis, x.nemesis_score = other, score
