# Parse words and numbers of LETOR text. Every text ends with a newline, which ends each loop.

from libc.stdint cimport uint8_t

cdef const char *read_number(const char *c, double *value) noexcept nogil


cdef inline bint is_digit(char c) noexcept nogil:
    return <uint8_t>(c - 48) < 10


cdef inline bint is_blank(char c) noexcept nogil:
    return c == 32 or c == 9 or c == 13  # a line may end in CR LF


cdef inline bint is_end(char c) noexcept nogil:
    return is_blank(c) or c == 10 or c == 35  # newline, #


cdef inline const char *after_blanks(const char *c) noexcept nogil:
    while is_blank(c[0]):
        c += 1
    return c
