# Which of many Beta variables is the largest? Exactly in law, with hardly any Beta draw.
#
# Above an `anchor` beyond its mode, a Beta density lies below the exponential that touches it there, because its
# logarithm is concave (a, b >= 1). That exponential's mass beyond the anchor bounds the chance of a draw beyond it.
# Rounded up to (tail + 1) / 256, it lets one random byte say for each variable
#
#     byte >  tail: the draw is not above the anchor. Its value matters only if nothing larger has been seen.
#     byte <= tail: anchor + scale * E, E standard exponential, is proposed, and kept with probability
#                   density / (rounded) exponential; if not kept, the draw is not above the anchor.
#
# Sixteen variables take one vector comparison, the few proposals are tried from the largest down, and a full Beta
# draw is left to those whose anchor no kept proposal has passed.

from libc.math cimport exp, log, sqrt
from libc.stdint cimport uint8_t, uint64_t

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_beta, random_standard_exponential

# GCC's and Clang's vector types compile to what every x86-64 and ARM64 has.
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define RD_ASK 255
    typedef uint8_t rd_u8x16 __attribute__((vector_size(16)));
    typedef uint64_t rd_u64x2 __attribute__((vector_size(16)));

    /* Of sixteen random bytes, those not above their limits: a 1 in each such byte of found. */
    static inline void rd_at_most16(uint64_t low, uint64_t high, const uint8_t *limits, uint64_t *found) {
        rd_u64x2 random = {low, high};
        rd_u8x16 l, yes;
        memcpy(&l, limits, 16);
        yes = (rd_u8x16)((rd_u8x16)random <= l) & 1;
        memcpy(found, &yes, 16);
    }

    /* Of sixteen bytes, those not below the level. */
    static inline void rd_at_least16(uint8_t level, const uint8_t *bytes, uint64_t *found) {
        rd_u8x16 b, yes;
        memcpy(&b, bytes, 16);
        yes = (rd_u8x16)(b >= level) & 1;
        memcpy(found, &yes, 16);
    }
    """
    enum:
        ASK "RD_ASK"  # as a tail: always look at the variable itself
    void at_most16 "rd_at_most16" (uint64_t low, uint64_t high, const uint8_t *limits, uint64_t *found) noexcept nogil
    void at_least16 "rd_at_least16" (uint8_t level, const uint8_t *bytes, uint64_t *found) noexcept nogil
    int __builtin_ctzll(uint64_t word) noexcept nogil

cdef struct beta_t:
    double a, b  # successes + 1, failures + 1
    double log_norm  # -log B(a, b)
    double anchor  # -1: a or b has changed since the exponential was laid
    double scale, log_mass

cdef struct guess_t:
    double value
    int index

cdef struct betas_t:
    beta_t *first
    size_t stride  # bytes from one variable to the next
    int n
    double bar  # the largest draw is hardly ever below it, so no anchor needs to be
    uint8_t *tails  # n bytes, rounded up to 16, as are the next
    uint8_t *tops  # the anchors, as bytes
    guess_t *scratch  # n of them


cdef inline void beta_uniform(beta_t *x) noexcept nogil:
    """Beta(1, 1): nothing seen yet."""
    x.a = x.b = 1
    x.log_norm = x.scale = x.log_mass = 0
    x.anchor = -1


cdef inline void beta_success(beta_t *x) noexcept nogil:
    x.log_norm += log((x.a + x.b) / x.a)
    x.a += 1
    x.anchor = -1


cdef inline void beta_failure(beta_t *x) noexcept nogil:
    x.log_norm += log((x.a + x.b) / x.b)
    x.b += 1
    x.anchor = -1


cdef inline uint8_t beta_top(double value) noexcept nogil:
    """A value as a byte, in the same order."""
    return <uint8_t>max(0.0, min(255.0, 256 * value))


cdef inline beta_t *beta_of(const betas_t *row, int j) noexcept nogil:
    return <beta_t *>(<char *>row.first + j * row.stride)


cdef inline void beta_fit(const betas_t *row, int j) noexcept nogil:
    """Lay the exponential at the bar, or one standard deviation above the mean if that is higher."""
    cdef beta_t *x = beta_of(row, j)
    cdef double n = x.a + x.b, mean = x.a / n
    cdef double anchor = max(row.bar, mean + sqrt(mean * (1 - mean) / (n + 1)))
    cdef double slope, mass
    x.anchor = 1  # if it is too flat, nothing is known without a full draw
    row.tails[j] = row.tops[j] = ASK
    if anchor < 1:
        slope = (x.b - 1) / (1 - anchor) - (x.a - 1) / anchor
        if slope > 0:
            x.log_mass = x.log_norm + (x.a - 1) * log(anchor) + (x.b - 1) * log(1 - anchor) - log(slope)
            mass = 256 * exp(x.log_mass)
            if mass < ASK:
                x.anchor, x.scale = anchor, 1 / slope
                row.tails[j], row.tops[j] = <uint8_t>mass, beta_top(anchor)


cdef inline bint beta_keep(bitgen_t *rng, const beta_t *x, uint8_t tail, double value) noexcept nogil:
    """Keep a proposed value with probability density / exponential, the exponential's mass being (tail + 1) / 256."""
    if value >= 1:
        return False
    return random_standard_exponential(rng) >= -(
        (x.a - 1) * log(value / x.anchor)
        + (x.b - 1) * log((1 - value) / (1 - x.anchor))
        + (value - x.anchor) / x.scale
        + x.log_mass - log((tail + 1) / 256.0)
    )


cdef inline double beta_below_anchor(bitgen_t *rng, const beta_t *x) noexcept nogil:
    """A draw, given that it is not above the anchor."""
    cdef double value
    while True:
        value = random_beta(rng, x.a, x.b)
        if value <= x.anchor:
            return value


cdef inline int next_lane(uint64_t *found) noexcept nogil:
    """The first of the sixteen lanes that are marked, unmarked now; -1 when none is left."""
    cdef int half = found[0] == 0, lane
    if found[half] == 0:
        return -1
    lane = 8 * half + __builtin_ctzll(found[half]) // 8
    found[half] &= found[half] - 1
    return lane


cdef inline int largest_of(const guess_t *guesses, int n) noexcept nogil:
    cdef int top = 0, k
    for k in range(1, n):
        if guesses[k].value > guesses[top].value:
            top = k
    return top


cdef inline int beta_argmax(bitgen_t *rng, const betas_t *row, int skip, const uint8_t *barred, double floor) noexcept nogil:
    """Draw each Beta variable of a row once; which one is the largest, or -1 if none is above the floor.

    `skip` is left out, and so is every j with barred[j], unless barred is NULL.
    """
    cdef guess_t *guesses = row.scratch
    cdef beta_t *x
    cdef uint64_t found[2]
    cdef double largest = floor, value
    cdef int start, lane, j, top, n_guesses = 0, chosen = -1
    for start in range(0, row.n, 16):
        at_most16(rng.next_uint64(rng.state), rng.next_uint64(rng.state), row.tails + start, found)
        while (lane := next_lane(found)) >= 0:
            j = start + lane
            if j >= row.n or j == skip or (barred != NULL and barred[j]):
                continue
            x = beta_of(row, j)
            if row.tails[j] == ASK:
                if x.anchor < 0:
                    beta_fit(row, j)
                if row.tails[j] == ASK or 256 * rng.next_double(rng.state) >= row.tails[j] + 1:
                    continue
            guesses[n_guesses].value = x.anchor + x.scale * random_standard_exponential(rng)
            guesses[n_guesses].index = j
            n_guesses += 1
    while n_guesses > 0:
        top = largest_of(guesses, n_guesses)
        j, value = guesses[top].index, guesses[top].value
        if value <= largest:
            break
        if beta_keep(rng, beta_of(row, j), row.tails[j], value):
            largest, chosen = value, j
            break
        n_guesses -= 1
        guesses[top] = guesses[n_guesses]
    # What is still open lies below its anchor.
    n_guesses = 0
    for start in range(0, row.n, 16):
        at_least16(beta_top(largest), row.tops + start, found)
        while (lane := next_lane(found)) >= 0:
            j = start + lane
            if j >= row.n or j == skip or (barred != NULL and barred[j]):
                continue
            if beta_of(row, j).anchor > largest:
                guesses[n_guesses].value = beta_of(row, j).anchor
                guesses[n_guesses].index = j
                n_guesses += 1
    while n_guesses > 0:
        top = largest_of(guesses, n_guesses)
        if guesses[top].value <= largest:
            break
        j = guesses[top].index
        value = beta_below_anchor(rng, beta_of(row, j))
        if value > largest:
            largest, chosen = value, j
        n_guesses -= 1
        guesses[top] = guesses[n_guesses]
    return chosen
