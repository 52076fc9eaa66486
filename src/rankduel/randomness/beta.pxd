# Find the largest of many Beta variates, with the exact distribution and almost without drawing a Beta variate.
#
# Let n = a + b - 2, k = a - 1 and let m = k / n be the mode. Stirling's formula bounds the density at the mode by
# F = (n + 1) / sqrt(2 pi n m (1 - m)). The second derivative of the log density is at most -D on one side of the mode
# (`slack`). So a normal curve dominates the density on that side,
#
#     density(x) <= F exp(-z^2 / 2),  z = (x - m) sqrt(D),
#
# and its mass there, about 1/2, bounds the probability of a draw above the mode. It is rounded up to (tail + 1) / 256.
# Then one random byte per variable decides:
#
#     byte >  tail: the draw is not above the mode. Its value matters only if no larger one has been seen.
#     byte <= tail: propose m + |z| / sqrt(D) with z standard normal, and accept it with probability density / (rounded)
#                   curve. If it is rejected, the draw is not above the mode.
#
# One vector comparison decides sixteen variables. Proposals are tried from the largest down. A draw that is not above
# its mode is made, in the same way, only if no accepted proposal exceeds that mode. If draws above a `bar` are nearly
# always seen, the bar replaces the mode, and the exponential that touches the curve there replaces the curve. So
# variables far below the bar cost next to nothing.

from libc.math cimport exp, expm1, log, log1p, pow, sqrt
from libc.stdint cimport uint8_t, uint64_t

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_beta, random_standard_exponential

from rankduel.randomness.draws cimport eight_bytes, eight_bytes_if
from rankduel.randomness.half_normal cimport half_normal

# The vector types of GCC and Clang compile to instructions that every x86-64 and ARM64 processor has.
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define RD_ASK 255
    typedef uint8_t rd_u8x16 __attribute__((vector_size(16)));
    typedef uint64_t rd_u64x2 __attribute__((vector_size(16)));

    /* Sets byte k of found to 1 if random byte k is at most limits[k], for sixteen bytes. */
    static inline void rd_at_most16(uint64_t low, uint64_t high, const uint8_t *limits, uint64_t *found) {
        rd_u64x2 random = {low, high}, yes;
        rd_u8x16 l;
        memcpy(&l, limits, 16);
        yes = (rd_u64x2)((rd_u8x16)((rd_u8x16)random <= l) & 1);
        found[0] = yes[0];
        found[1] = yes[1];
    }

    /* Sets byte k of found to 1 if bytes[k] is at least the level, for sixteen bytes. */
    static inline void rd_at_least16(uint8_t level, const uint8_t *bytes, uint64_t *found) {
        rd_u8x16 b;
        rd_u64x2 yes;
        memcpy(&b, bytes, 16);
        yes = (rd_u64x2)((rd_u8x16)(b >= level) & 1);
        found[0] = yes[0];
        found[1] = yes[1];
    }

    /* log k! minus Stirling's approximation, for k >= 1. */
    static inline double rd_stirling_rest(double k) {
        static const double small[10] = {0, 0.08106146679532726, 0.04134069595540929, 0.02767792568499834,
            0.02079067210376509, 0.01664469118982119, 0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
            0.009255462182712733};
        double s = 1 / (k * k);
        return k < 10 ? small[(int)k] : (1 / 12.0 - s * (1 / 360.0 - s * (1 / 1260.0 - s / 1680.0))) / k;
    }
    """
    enum:
        ASK "RD_ASK"  # a tail that stands for: look at the record of the variable
    void at_most16 "rd_at_most16" (uint64_t low, uint64_t high, const uint8_t *limits, uint64_t *found) noexcept nogil
    void at_least16 "rd_at_least16" (uint8_t level, const uint8_t *bytes, uint64_t *found) noexcept nogil
    double stirling_rest "rd_stirling_rest" (double k) noexcept nogil
    int __builtin_ctzll(uint64_t word) noexcept nogil

cdef enum:
    STALE = -1  # a value of `gap`: a or b has changed, and the other fields are out of date
    FLAT = -2  # a value of `gap`: no curve, for example because a = 1 or b = 1. Draw the variable itself

cdef struct beta_t:
    double a, b  # successes + 1 and failures + 1, whole numbers
    double mode
    double width  # 1 / sqrt(D) above the mode
    double gap  # (anchor - mode) / width. The anchor is the mode, or the bar if that is clearly higher
    double mass  # mass of the curve above the anchor

cdef struct guess_t:
    double value, z
    int index

cdef struct betas_t:
    beta_t *first
    size_t stride  # bytes from one variable to the next
    int n
    double bar  # the largest draw is rarely below it
    uint8_t *tails  # n bytes, padded to a multiple of 16
    uint8_t *tops  # the anchors as bytes, 0 for the bar, with the same padding
    guess_t *scratch  # n entries


cdef inline void beta_uniform(beta_t *x) noexcept nogil:
    """Initialise to Beta(1, 1), the prior."""
    x.a = x.b = 1
    x.mode = x.width = x.mass = 0
    x.gap = STALE


cdef inline beta_t *beta_of(const betas_t *row, int j) noexcept nogil:
    return <beta_t *>(<char *>row.first + j * row.stride)


cdef inline double beta_anchor(const beta_t *x) noexcept nogil:
    return x.mode + x.gap * x.width if x.gap >= 0 else 1


cdef inline uint8_t beta_top(double value) noexcept nogil:
    """A monotone map from values to the bytes 1 to 255."""
    return <uint8_t>max(1.0, min(255.0, 256 * value))


cdef inline double slack(double m) noexcept nogil:
    """The ratio of the squared width of the curve to m (1 - m) / n, the squared width of the density at the mode.

    The ratio is n / (m (1 - m) D). D is a lower bound, for x above m, of minus the second derivative of the log
    density, k / x^2 + (n - k) / (1 - x)^2. For m >= 1/2 this grows with x, so its value at m is the bound. Otherwise it
    is at least n (m^(1/3) + (1 - m)^(1/3))^3. That is at least n (4 - 6.75 (1/2 - m)^2) for m >= 1/10, and at least n
    always.
    """
    if m >= 0.5:
        return 1
    return 1 / (m * (1 - m) * (4 - 6.75 * (0.5 - m) * (0.5 - m) if m >= 0.1 else 1))


cdef inline void beta_curve(beta_t *x, double bar) noexcept nogil:
    """Compute the curve above the mode, or above the bar if that is clearly higher, for a, b >= 2."""
    cdef double inverse = 1 / (x.a + x.b - 2), m = (x.a - 1) * inverse, wider = slack(m)
    x.mode, x.width = m, sqrt(m * (1 - m) * inverse * wider)
    x.mass = (0.5 + 0.5 * inverse) * (sqrt(wider) if wider > 1 else 1)  # F sqrt(pi / (2 D))
    if bar - m < 0.6 * x.width:
        x.gap = 0
    else:
        x.gap = (bar - m) / x.width
        x.mass *= 0.7978845608028654 * exp(-x.gap * x.gap / 2) / x.gap  # sqrt(2 / pi)


cdef inline void beta_fit(const betas_t *row, int j) noexcept nogil:
    """Compute the curve of a variable that is STALE."""
    cdef beta_t *x = beta_of(row, j)
    row.tails[j] = row.tops[j] = ASK
    x.gap = FLAT
    if x.a < 2 or x.b < 2:
        return
    beta_curve(x, row.bar)
    if 256 * x.mass < ASK:
        row.tails[j], row.tops[j] = <uint8_t>(256 * x.mass), beta_top(x.mode) if x.gap == 0 else 0
    else:
        x.gap = FLAT


cdef inline bint beta_keep(
    bitgen_t *rng, const beta_t *x, double value, double log_curve, double mass, double rounded
) noexcept nogil:
    """Accept a proposed value with probability density / (F exp(log_curve)) mass / rounded."""
    cdef double k = x.a - 1, l = x.b - 1, u = rng.next_double(rng.state) * rounded
    cdef double step = value - x.mode, per = step / (x.mode * (1 - x.mode))
    cdef double t = per * (1 - x.mode), s = per * x.mode  # step / mode, step / (1 - mode)
    cdef double log_ratio
    if value <= 0 or value >= 1:
        return False
    # A lower bound of k log(1 + t) + l log(1 - s), which accepts most values without a logarithm. It uses
    # log(1 + t) >= t - t^2 / 2 + min(0, t^3 / (3 (1 + t))), the same for -s, the remainders of Stirling's formula,
    # which are between 0 and 1 / (12 k), and e^x >= 1 + x.
    log_ratio = -(k + l) * (per * step / 2 + 1 / (12 * k * l)) - log_curve + (
        -l * s * s * s / (3 * (1 - s)) if step > 0 else k * t * t * t / (3 * (1 + t))
    )
    if u <= mass * (1 + log_ratio):
        return True
    log_ratio = k * log1p(t) + l * log1p(-s) - log_curve
    log_ratio += stirling_rest(k + l) - stirling_rest(k) - stirling_rest(l)
    return log(u / mass) <= log_ratio


cdef inline double beta_below_anchor(bitgen_t *rng, const beta_t *x) noexcept nogil:
    """Draw a variate, conditional on not being above the anchor."""
    cdef double value, z, width
    if x.gap == 0:
        width = sqrt(x.mode * (1 - x.mode) / (x.a + x.b - 2) * slack(1 - x.mode))
        while True:
            z = half_normal(rng)
            value = x.mode - z * width
            if beta_keep(rng, x, value, -z * z / 2, 1, 1):
                return value
    while True:
        value = random_beta(rng, x.a, x.b)
        if value <= beta_anchor(x):
            return value


cdef inline double beta_draw(bitgen_t *rng, double a, double b) noexcept nogil:
    """Draw a variate: propose one above the mode with the mass of the curve. If none is accepted, draw one below."""
    cdef beta_t x
    cdef double z, value
    x.a, x.b = a, b
    if a >= 2 and b >= 2:
        beta_curve(&x, 0)
        if x.mass < 1:
            if rng.next_double(rng.state) < x.mass:
                z = half_normal(rng)
                value = x.mode + x.width * z
                if beta_keep(rng, &x, value, -z * z / 2, 1, 1):
                    return value
            return beta_below_anchor(rng, &x)
    return random_beta(rng, a, b)


cdef inline double beta_chance_above(double a, double b, double level) noexcept nogil:
    """An upper bound of the probability of a draw above a level, exact for a = 1. 1 if the level is too low.

    The log density of v = -log(1 - x) is (a - 1) log(1 - exp(-v)) - b v + a constant. It is concave, so its tangent at
    the level, with slope -s and s = b - (a - 1) (1 - level) / level, lies above it. So the probability is at most
    density(level) (1 - level) / s.
    """
    cdef double k = a - 1, l = b - 1, n = k + l, left = 1 - level, s = b - k * left / level, m, rest, per, mass
    if s <= 0:
        return 1
    if k == 0:
        return pow(left, b)
    if l == 0:
        mass = a * pow(level, k) * left / s
    else:  # the density is its value at the mode, by Stirling's formula, times the ratio in beta_keep
        m, rest = k / n, l / n
        per = (level - m) / (m * rest)
        mass = k * log1p(per * rest) + l * log1p(-per * m) + stirling_rest(n) - stirling_rest(k) - stirling_rest(l)
        mass = 0.3989422804014327 * (n + 1) / sqrt(n * m * rest) * exp(mass) * left / s  # 1 / sqrt(2 pi)
    return mass if mass < 1 else 1


cdef inline double beta_value_above(bitgen_t *rng, double a, double b, double level, double floor) noexcept nogil:
    """Given an event with probability `beta_chance_above`: a draw above the level and the floor, or -1 if rejected.

    The tangent proposes v = -log(1 - level) + d with d exponential. The ratio density / tangent is
    (x / level)^k exp(-k d left / level).
    """
    cdef double k = a - 1, left = 1 - level, odds = left / level, s = b - k * odds
    cdef double d = random_standard_exponential(rng) / s, rise = -expm1(-d), value = level + left * rise, u
    if value <= floor:
        return -1
    if k > 0:
        u = rng.next_double(rng.state)
        rise *= odds  # x / level = 1 + rise
        # Most values are accepted by the bounds log(1 + rise) >= rise - rise^2 / 2 and e^x >= 1 + x.
        if u > 1 + k * (rise - rise * rise / 2 - d * odds) and log(u) > k * (log1p(rise) - d * odds):
            return -1
    return value


cdef inline double beta_draw_above(bitgen_t *rng, const beta_t *given, double level) noexcept nogil:
    """Draw a variate, conditional on being above a level."""
    cdef beta_t x = given[0]
    cdef double z, value = -1
    if x.a == 1:
        value = 1 - (1 - level) * pow(1 - rng.next_double(rng.state), 1 / x.b)
    elif x.b > 1:
        beta_curve(&x, level)
        while x.gap > 0 and x.mass < 1 and value < 0:
            z = x.gap + random_standard_exponential(rng) / x.gap
            value = x.mode + x.width * z
            value = value if beta_keep(rng, &x, value, x.gap * x.gap / 2 - x.gap * z, 1, 1) else -1
    while value <= level:
        value = random_beta(rng, x.a, x.b)
    return value


cdef inline int next_lane(uint64_t *found) noexcept nogil:
    """Remove the first marked one of sixteen lanes and return it, or -1 if none is left."""
    cdef int half = found[0] == 0, lane
    if found[half] == 0:
        return -1
    lane = 8 * half + __builtin_ctzll(found[half]) // 8
    found[half] &= found[half] - 1
    return lane


cdef inline int largest_of(const guess_t *guesses, int n) noexcept nogil:
    cdef int top = 0, k
    for k in range(1, n):
        top = k if guesses[k].value > guesses[top].value else top
    return top


cdef inline bint beta_try(bitgen_t *rng, const betas_t *row, const guess_t *guess) noexcept nogil:
    """Accept or reject a value above the anchor, proposed by the curve with its mass rounded up to (tail + 1) / 256."""
    cdef const beta_t *x = beta_of(row, guess.index)
    cdef double z = guess.z
    cdef double log_curve = -z * z / 2 if x.gap == 0 else x.gap * x.gap / 2 - x.gap * z
    return beta_keep(rng, x, guess.value, log_curve, 256 * x.mass, row.tails[guess.index] + 1)


cdef inline int beta_argmax(bitgen_t *rng, const betas_t *row, int skip, const uint8_t *barred, double floor) noexcept nogil:
    """Draw each Beta variable of a row once. Returns the index of the largest, or -1 if none is above the floor.

    `skip` is left out, and so is every j with barred[j], unless barred is NULL.
    """
    cdef guess_t *guesses = row.scratch
    cdef beta_t *x
    cdef uint64_t found[2]
    cdef double largest = floor, value, z
    cdef int start, lane, j, top = 0, n_guesses = 0, chosen = -1
    for start in range(0, row.n, 16):
        at_most16(eight_bytes(rng), eight_bytes_if(rng, row.n - start > 8), row.tails + start, found)
        while (lane := next_lane(found)) >= 0:
            j = start + lane
            if j >= row.n or j == skip or (barred != NULL and barred[j]):
                continue
            x = beta_of(row, j)
            if row.tails[j] == ASK:
                if x.gap == STALE:
                    beta_fit(row, j)
                if row.tails[j] == ASK or 256 * rng.next_double(rng.state) >= row.tails[j] + 1:
                    continue
            z = half_normal(rng) if x.gap == 0 else x.gap + random_standard_exponential(rng) / x.gap
            value = x.mode + x.width * z
            guesses[n_guesses].value, guesses[n_guesses].z, guesses[n_guesses].index = value, z, j
            top = n_guesses if value > guesses[top].value else top
            n_guesses += 1
    while n_guesses > 0:
        if guesses[top].value <= largest:
            break
        if beta_try(rng, row, &guesses[top]):
            largest, chosen = guesses[top].value, guesses[top].index
            break
        n_guesses -= 1
        guesses[top] = guesses[n_guesses]
        top = largest_of(guesses, n_guesses)
    # All variables that are not decided yet are below their anchors.
    n_guesses = 0
    for start in range(0, row.n, 16):
        at_least16(beta_top(largest) if largest >= row.bar else 0, row.tops + start, found)
        while (lane := next_lane(found)) >= 0:
            j = start + lane
            if j >= row.n or j == skip or (barred != NULL and barred[j]):
                continue
            value = beta_anchor(beta_of(row, j))
            if value > largest:
                guesses[n_guesses].value, guesses[n_guesses].index = value, j
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
