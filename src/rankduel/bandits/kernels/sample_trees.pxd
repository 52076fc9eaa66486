# Two samples for each seat, in trees of maxima: each node is a line of the cache that holds the best of eight.

cdef extern from *:
    """
    #if defined(__SSE2__)
    #include <emmintrin.h>
    #endif
    #if defined(__GNUC__)
    #define rankduel_fetch(address) __builtin_prefetch(address)
    #define rankduel_lowest_bit(bits) __builtin_ctz(bits)
    #else
    #define rankduel_fetch(address) ((void)(address))
    static int rankduel_lowest_bit(int bits) { int k = 0; while (!(bits >> k & 1)) k++; return k; }
    #endif

    static inline int rankduel_reach(const double *line, double value) {
    #if defined(__SSE2__)
        const __m128d bar = _mm_set1_pd(value);
        int bits = 0;
        for (int k = 0; k < 8; k += 2)
            bits |= _mm_movemask_pd(_mm_cmpge_pd(_mm_loadu_pd(line + k), bar)) << k;
    #else
        int bits = 0;
        for (int k = 0; k < 8; k++)
            bits |= (line[k] >= value) << k;
    #endif
        return bits;
    }
    """
    void fetch "rankduel_fetch"(const void *address) noexcept nogil  # it will be needed soon
    int lowest_bit "rankduel_lowest_bit"(int bits) noexcept nogil  # of some that are set
    int reach "rankduel_reach"(const double *line, double value) noexcept nogil  # a bit for each that is as large

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


# Here, and not in the class, so that a kernel that uses them has them within.

cdef inline void put(Samples samples, int which, int seat, double value) noexcept nogil:
    """A new sample, up to where it makes no difference. Only where the best of eight has fallen are the eight compared."""
    cdef int level, place = seat
    cdef double *line = samples.levels[0][place >> BITS].of[which]
    cdef double *top = &line[place & (WIDTH - 1)]
    cdef double before = top[0]
    top[0] = value
    for level in range(1, samples.n_levels):
        place >>= BITS
        top = &samples.levels[level][place >> BITS].of[which][place & (WIDTH - 1)]
        if value < top[0]:
            if before < top[0]:
                return
            value = largest(line)
        line = samples.levels[level][place >> BITS].of[which]
        before, top[0] = top[0], value


cdef inline int best(Samples samples, int which) noexcept nogil:
    """The seat with the largest sample."""
    return below_place(samples, which, samples.n_levels, 0, largest(samples.levels[samples.n_levels - 1].of[which]))


cdef inline int best_but(Samples samples, int which, int seat) noexcept nogil:
    """The seat with the largest sample but for one seat."""
    cdef int level, k, place = seat, best_level = 0, best_place = best(samples, which)
    cdef double value = NOBODY
    cdef const double *line
    if best_place != seat:
        return best_place
    for level in range(samples.n_levels):
        line = samples.levels[level][place >> BITS].of[which]
        for k in range(WIDTH):
            if k != place & (WIDTH - 1) and line[k] > value:
                value, best_level, best_place = line[k], level, (place | (WIDTH - 1)) - (WIDTH - 1) + k
        place >>= BITS
    return below_place(samples, which, best_level, best_place, value)


cdef inline int below_place(Samples samples, int which, int level, int place, double value) noexcept nogil:
    """The seat below a place of a level that has the sample which made it there."""
    while level > 0:
        level -= 1
        place = (place << BITS) + where(samples.levels[level][place].of[which], value)
    return place


cdef inline double get(Samples samples, int which, int seat) noexcept nogil:
    return samples.levels[0][seat >> BITS].of[which][seat & (WIDTH - 1)]


cdef inline void fetch_seat(Samples samples, int seat) noexcept nogil:
    """Have a seat's samples, and what they are compared with, brought near."""
    fetch(&samples.levels[0][seat >> BITS].of[0])
    fetch(&samples.levels[0][seat >> BITS].of[1])
    if samples.n_levels > 3:  # the upper levels are near anyway
        fetch(&samples.levels[1][seat >> 2 * BITS].of[0])
        fetch(&samples.levels[1][seat >> 2 * BITS].of[1])


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double largest(const double *line) noexcept nogil:
    return larger(
        larger(larger(line[0], line[1]), larger(line[2], line[3])),
        larger(larger(line[4], line[5]), larger(line[6], line[7])),
    )


cdef inline int where(const double *line, double value) noexcept nogil:
    """Where in a line its largest value is; the first where several are. Bits, for a processor cannot guess the place."""
    return lowest_bit(reach(line, value) | 1 << (WIDTH - 1))
