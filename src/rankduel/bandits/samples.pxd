# Two samples for each seat, in trees of maxima: each node is a line of the cache that holds the best of eight.

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define rankduel_fetch(address) __builtin_prefetch(address)
    #else
    #define rankduel_fetch(address) ((void)(address))
    #endif
    """
    void fetch "rankduel_fetch"(const void *address) noexcept nogil  # it will be needed soon

cdef enum:
    BITS = 3
    WIDTH = 1 << BITS
    DEEPEST = 11  # levels: 8^11 > 2^31

cdef double NOBODY  # the sample of a free seat

cdef struct block_t:
    double of[2][WIDTH]  # first samples and second samples of eight neighbours


cdef class Samples:
    cdef block_t *levels[DEEPEST]  # the seats, the best of each eight, the best of each eight of these, ...
    cdef int n_levels  # the last one has a single block
    cdef object _memory

    cdef void put(self, int which, int seat, double value) noexcept nogil
    cdef int best(self, int which) noexcept nogil
    cdef int best_but(self, int which, int seat) noexcept nogil
    cdef int below(self, int which, int level, int place, double value) noexcept nogil
    cdef double get(self, int which, int seat) noexcept nogil
    cdef void fetch(self, int seat) noexcept nogil
