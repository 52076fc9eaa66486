# Ratings of arms in a logistic model, the deviation of pairs from the model, and the nemesis of each arm.

from libc.math cimport exp
from libc.stdint cimport int64_t, uint8_t

cdef struct rating_t:
    double mean, variance  # mean and variance of the rating, where p = 1 / (1 + exp(other's rating - rating))
    double nemesis_score  # lead^2 / n of the nemesis over this arm
    int64_t nemesis  # the opponent that has beaten this arm most clearly, or -1


cdef class Ratings:
    cdef readonly dict arrays
    cdef rating_t *arms
    cdef double *deviation  # [sum, weight] of the squared deviations of pairs from their prediction
    cdef double trust  # the weight of a prediction, in duels
    cdef double model_variance  # additional variance of a rating, because pairs deviate from the model

    cdef void set_trust(self) noexcept nogil
    cdef void record_deviation(self, double won, double lost, double expected) noexcept nogil


# Functions instead of methods, so that the compiler inlines them into the kernel that uses them.

cdef inline double odds(Ratings ratings, int i, int j) noexcept nogil:
    """The odds of arm i against arm j, predicted from their ratings."""
    return exp(ratings.arms[i].mean - ratings.arms[j].mean)


cdef inline double predict(Ratings ratings, int i, int j) noexcept nogil:
    """The probability that arm i wins against arm j, predicted from their ratings."""
    return 1 / (1 + odds(ratings, j, i))


cdef inline double harm(double odds) noexcept nogil:
    """How much worse than the champion an arm is, given its odds against the champion: 1/2 - p, at least 0."""
    cdef double behind = 1 / (1 + odds) - 0.5
    return behind if behind > 0 else 0


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
    """Make an opponent with this record the nemesis of an arm, unless an arm left has beaten it more clearly."""
    cdef rating_t *x = &ratings.arms[arm]
    cdef double score = (lost - won) * (lost - won) / (lost + won) if lost > won else 0
    if other == x.nemesis:
        x.nemesis_score = score
    elif score > x.nemesis_score or (score > 0 and x.nemesis >= 0 and gone[x.nemesis]):
        x.nemesis, x.nemesis_score = other, score
