# Convert a decimal number to the nearest double, with the same result as float() in much less time. The method is by
# Eisel and Lemire (Lemire 2021, "Number parsing at a gigabyte per second"): digits * 10^exponent is one or two products
# with a power of five that is known to 128 bits. If these bits do not decide the rounding, the caller must use float().

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    static inline uint64_t rankduel_multiply(uint64_t a, uint64_t b, uint64_t *low) {
        unsigned __int128 product = (unsigned __int128)a * b;
        *low = (uint64_t)product;
        return (uint64_t)(product >> 64);
    }
    static inline int rankduel_leading_zeros(uint64_t a) { return __builtin_clzll(a); }
    """
    uint64_t multiply "rankduel_multiply" (uint64_t a, uint64_t b, uint64_t *low) noexcept nogil
    int leading_zeros "rankduel_leading_zeros" (uint64_t a) noexcept nogil

cdef enum:
    MIN_EXPONENT = -342  # 10^MIN_EXPONENT times 19 digits is 0, 10^MAX_EXPONENT times one digit is finite
    MAX_EXPONENT = 308

cdef struct power_t:  # five to some power, shifted so that its highest bit is set
    uint64_t high
    uint64_t low


cdef inline bint nearest(uint64_t digits, int exponent, const power_t *fives, double *value) noexcept nogil:
    """Compute value = digits * 10^exponent, correctly rounded, for digits > 0. False if the rounding is not decided.

    `fives` begins at MIN_EXPONENT.
    """
    cdef uint64_t high, low, more, unused, mantissa
    cdef int64_t binary
    cdef int shift, top
    if exponent < MIN_EXPONENT or exponent > MAX_EXPONENT:
        return False
    shift = leading_zeros(digits)
    digits <<= shift
    high = multiply(digits, fives[exponent - MIN_EXPONENT].high, &low)
    if high & 0x1FF == 0x1FF:  # the lower bits could carry into the higher bits
        more = multiply(digits, fives[exponent - MIN_EXPONENT].low, &unused)
        low += more
        high += low < more
        if low == 0xFFFFFFFFFFFFFFFFull and not -27 <= exponent <= 55:
            return False
    top = high >> 63
    mantissa = high >> (top + 9)  # 53 bits, and one for rounding
    binary = ((217706 * <int64_t>exponent) >> 16) + 1086 + top - shift  # 217706 / 2^16 is about log2(10)
    if binary <= 0:
        return False  # subnormal
    if low <= 1 and -4 <= exponent <= 23 and mantissa & 3 == 1 and mantissa << (top + 9) == high:
        mantissa -= 1  # exactly half-way: round to even
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >> 53:
        mantissa >>= 1
        binary += 1
    if binary >= 2047:
        return False  # beyond the largest double
    mantissa = mantissa & 0xFFFFFFFFFFFFFull | <uint64_t>binary << 52
    memcpy(value, &mantissa, sizeof(mantissa))
    return True
