# The record of one arm against another: the Beta posterior of its probability to win, and the mass above 1/2.

from libc.math cimport exp, lgamma
from libc.stdint cimport int16_t, uint8_t, uint64_t

from rankduel.randomness.beta cimport STALE, beta_t, beta_uniform

cdef struct versus_t:
    beta_t chance  # Beta(wins + 1, losses + 1)
    double above_half  # P(chance > 1/2). A sampled tournament needs this event only, not a Beta variate
    double step  # 2^-(a + b) / B(a, b), from which the change of above_half follows


cdef inline void versus_new(versus_t *x) noexcept nogil:
    beta_uniform(&x.chance)
    x.above_half, x.step = 0.5, 0.25


cdef inline void versus_count(versus_t *winner, versus_t *loser) noexcept nogil:
    """Count a win. The two records belong to the same pair, one from each side."""
    cdef double a = winner.chance.a, b = winner.chance.b
    # P(Beta(a + 1, b) > 1/2) = P(Beta(a, b) > 1/2) + 2^-(a + b) / (a B(a, b))
    cdef double inverse = 1 / a, rise = winner.step * inverse
    winner.above_half = min(1.0, winner.above_half + rise)
    loser.above_half = max(0.0, loser.above_half - rise)
    winner.step *= (a + b) * inverse / 2
    if winner.step < 1e-280:  # before it underflows to 0, where products would stay forever
        winner.step = exp(lgamma(a + 1 + b) - lgamma(a + 1) - lgamma(b) - 0.6931471805599453 * (a + 1 + b))
    loser.step = winner.step
    winner.chance.a = loser.chance.b = a + 1
    winner.chance.gap = loser.chance.gap = STALE


# Sixteen coin flips at once. A random byte below the odds is a success, above them a failure. If it is equal, the coin
# is open, and `rest` is its probability.
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    typedef int16_t rd_i16x16 __attribute__((vector_size(32)));
    typedef int16_t rd_i16x8 __attribute__((vector_size(16)));

    static inline int rd_draw16(const uint8_t *odds, uint64_t low, uint64_t high, uint8_t *yes, uint64_t *open) {
        rd_u64x2 random = {low, high}, equal;
        rd_u8x16 r = (rd_u8x16)random, o, y;
        memcpy(&o, odds, 16);
        equal = (rd_u64x2)((rd_u8x16)(r == o) & 1);
        y = (rd_u8x16)(r < o) & 1;
        memcpy(yes, &y, 16);
        memcpy(open, &equal, 16);
        return (equal[0] | equal[1]) != 0;
    }

    static inline void rd_add16(int16_t *counts, const uint8_t *yes) {
        rd_u8x16 y;
        rd_i16x16 c;
        memcpy(&y, yes, 16);
        memcpy(&c, counts, 32);
        c += __builtin_convertvector(y, rd_i16x16);
        memcpy(counts, &c, 32);
    }

    static inline int rd_sum8(rd_i16x8 x) {
        return x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
    }

    /* Turn the wins as first of a pair into kappa, the total wins. As second of a pair, an index wins if it is not
       beaten. For even n, the upper half of the indices is second once more. Returns the largest kappa. Indices from n
       on get -1. */
    static inline int rd_kappa(int16_t *won, const int16_t *beaten, int n) {
        const rd_i16x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
        rd_i16x8 most = lane - lane - (int16_t)1, w, b, c, there, more;
        int k, largest;
        for (k = 0; k < n; k += 8) {
            memcpy(&w, won + k, 16);
            memcpy(&b, beaten + k, 16);
            memcpy(&c, beaten + n + k, 16);
            there = lane + (int16_t)k < (int16_t)n;
            w += (int16_t)((n - 1) / 2) - b - c - (rd_i16x8)(lane + (int16_t)k >= (int16_t)(n % 2 ? n : n / 2));
            w = (w & there) | ~there;
            memcpy(won + k, &w, 16);
            more = w > most;
            most = (w & more) | (most & ~more);
        }
        largest = most[0];
        for (k = 1; k < 8; k++)
            largest = most[k] > largest ? most[k] : largest;
        return largest;
    }

    /* The number of indices with that kappa. If it is one, `place` is this index. */
    static inline int rd_kappa_ties(const int16_t *kappa, int value, int n, int *place) {
        const rd_i16x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
        rd_i16x8 count = lane - lane, sum = count, w;
        int k;
        for (k = 0; k < n; k += 8) {
            memcpy(&w, kappa + k, 16);
            w = w == (int16_t)value;
            count -= w;
            sum += (lane + (int16_t)k) & w;
        }
        *place = rd_sum8(sum);
        return rd_sum8(count);
    }
    """
    bint draw16 "rd_draw16" (const uint8_t *odds, uint64_t low, uint64_t high, uint8_t *yes, uint64_t *open) noexcept nogil
    void add16 "rd_add16" (int16_t *counts, const uint8_t *yes) noexcept nogil
    int kappa_of "rd_kappa" (int16_t *won, const int16_t *beaten, int n) noexcept nogil
    int kappa_ties "rd_kappa_ties" (const int16_t *kappa, int value, int n, int *place) noexcept nogil


cdef inline uint8_t odds(double probability) noexcept nogil:
    """The probability in 256ths, rounded down."""
    return <uint8_t>min(255.0, 256 * probability)


cdef inline double rest(double probability) noexcept nogil:
    """The rounding error of `odds`, in 256ths: the probability that an open coin succeeds."""
    return 256 * probability - odds(probability)
