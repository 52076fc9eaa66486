"""Parse decimal numbers of LETOR files in C. The result is the same double as from `float`."""

from libc.stdint cimport int64_t, uint64_t

from rankduel.datasets.decimals cimport MAX_EXPONENT, MIN_EXPONENT, nearest, power_t

cdef power_t FIVES[MAX_EXPONENT - MIN_EXPONENT + 1]


def _five(exponent):
    """The first 128 bits of 5^exponent. 5^-27 to 5^-1 are rounded up: their product with 64 bits may be exact."""
    five = 5 ** abs(exponent)
    if -27 <= exponent < 0:
        return (1 << (five.bit_length() + 127)) // five + 1
    many = five << 128 if exponent >= 0 else (1 << (2 * five.bit_length() + 128)) // five
    return many >> (many.bit_length() - 128)


for _exponent in range(MIN_EXPONENT, MAX_EXPONENT + 1):
    FIVES[_exponent - MIN_EXPONENT].high, FIVES[_exponent - MIN_EXPONENT].low = divmod(_five(_exponent), 1 << 64)


cdef const char *read_number(const char *c, double *value) noexcept nogil:
    """Read a number, and return the position after it. NULL if this word is not a number."""
    cdef const char *begin = c
    cdef const char *point
    cdef const char *digit
    cdef uint64_t digits = 0
    cdef int64_t count, exponent = 0, power = 0
    cdef bint negative = c[0] == 45, below
    if c[0] == 45 or c[0] == 43:  # - or +
        c += 1
    digit = c
    while is_digit(c[0]):
        digits = 10 * digits + (c[0] - 48)
        c += 1
    count = c - digit
    if c[0] == 46:
        c += 1
        point = c
        while is_digit(c[0]):
            digits = 10 * digits + (c[0] - 48)
            c += 1
        exponent = point - c
        count -= exponent
    if count == 0:
        return read_by_float(begin, value)  # may be inf or nan
    if c[0] == 101 or c[0] == 69:  # e or E
        c += 1
        below = c[0] == 45
        if c[0] == 45 or c[0] == 43:
            c += 1
        digit = c
        while is_digit(c[0]):
            power = min(10 * power + (c[0] - 48), 100_000)
            c += 1
        if c == digit:
            return NULL
        exponent += -power if below else power
    if not is_end(c[0]):
        return NULL
    if count > 19:  # `digits` may have overflowed
        return read_by_float(begin, value)
    if digits == 0 or exponent == 0 and digits <= 1ull << 53:
        value[0] = <double>digits
    elif not nearest(digits, <int>max(min(exponent, MAX_EXPONENT + 1), MIN_EXPONENT - 1), FIVES, value):
        return read_by_float(begin, value)
    if negative:
        value[0] = -value[0]
    return c


cdef const char *read_by_float(const char *begin, double *value) noexcept nogil:
    """Read with float(): very long, very large and very small numbers, inf and nan."""
    cdef const char *c = begin
    while not is_end(c[0]):
        c += 1
    with gil:
        word = begin[: c - begin]
        try:
            value[0] = float(word)
        except ValueError:
            return NULL
        return NULL if b"_" in word else c  # float() accepts _ as a separator


def number(text):
    """Parse a number as the reader does. None if it is not a number.

    >>> number("0.1"), number("-1e3"), number("inf"), number("1_000"), number("0x10")
    (0.1, -1000.0, inf, None, None)
    """
    cdef bytes line = text.encode() + b"\n"
    cdef double value = 0
    cdef const char *begin = line
    cdef const char *end = read_number(begin, &value)
    return value if end == begin + len(line) - 1 else None
