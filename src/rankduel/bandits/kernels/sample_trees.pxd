# Two samples for each slot, in trees of maxima: each node is a cache line with the best of eight.

cdef extern from *:
    """
    #if defined(__SSE2__)
    #include <emmintrin.h>
    #endif
    #if defined(__GNUC__)
    #define rankduel_prefetch(address) __builtin_prefetch(address)
    #define rankduel_lowest_bit(bits) __builtin_ctz(bits)
    #else
    #define rankduel_prefetch(address) ((void)(address))
    static int rankduel_lowest_bit(int bits) { int k = 0; while (!(bits >> k & 1)) k++; return k; }
    #endif

    static inline int rankduel_reach(const double *line, double value) {
    #if defined(__SSE2__)
        const __m128d threshold = _mm_set1_pd(value);
        int bits = 0;
        for (int k = 0; k < 8; k += 2)
            bits |= _mm_movemask_pd(_mm_cmpge_pd(_mm_loadu_pd(line + k), threshold)) << k;
    #else
        int bits = 0;
        for (int k = 0; k < 8; k++)
            bits |= (line[k] >= value) << k;
    #endif
        return bits;
    }
    """
    void prefetch "rankduel_prefetch"(const void *address) noexcept nogil  # it will be needed soon
    int lowest_bit "rankduel_lowest_bit"(int bits) noexcept nogil  # of some that are set
    int reach "rankduel_reach"(const double *line, double value) noexcept nogil  # a bit for each that is as large

cdef enum:
    BITS = 3
    WIDTH = 1 << BITS
    MAX_LEVELS = 11  # levels: 8^11 > 2^31

cdef double NO_SAMPLE  # the sample of a free slot

cdef struct block_t:
    double of[2][WIDTH]  # first samples and second samples of eight neighbours


cdef class SampleTrees:
    cdef block_t *levels[MAX_LEVELS]  # the slots, the best of each eight, the best of each eight of these, ...
    cdef int n_levels  # the last one has a single block
    cdef object _memory


# Here, and not in the class, so that the compiler inlines them into the kernel that uses them.

cdef inline void put(SampleTrees samples, int which, int slot, double value) noexcept nogil:
    """A new sample, up to where it makes no difference. Only where the best of eight has fallen are the eight compared."""
    cdef int level, place = slot
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


cdef inline int best(SampleTrees samples, int which) noexcept nogil:
    """The slot with the largest sample."""
    return below_place(samples, which, samples.n_levels, 0, largest(samples.levels[samples.n_levels - 1].of[which]))


cdef inline int best_but(SampleTrees samples, int which, int slot) noexcept nogil:
    """The slot with the largest sample but for one slot."""
    cdef int level, k, place = slot, best_level = 0, best_place = best(samples, which)
    cdef double value = NO_SAMPLE
    cdef const double *line
    if best_place != slot:
        return best_place
    for level in range(samples.n_levels):
        line = samples.levels[level][place >> BITS].of[which]
        for k in range(WIDTH):
            if k != place & (WIDTH - 1) and line[k] > value:
                value, best_level, best_place = line[k], level, (place | (WIDTH - 1)) - (WIDTH - 1) + k
        place >>= BITS
    return below_place(samples, which, best_level, best_place, value)


cdef inline int below_place(SampleTrees samples, int which, int level, int place, double value) noexcept nogil:
    """The slot below a place of a level that has the sample which made it there."""
    while level > 0:
        level -= 1
        place = (place << BITS) + where(samples.levels[level][place].of[which], value)
    return place


cdef inline double get(SampleTrees samples, int which, int slot) noexcept nogil:
    return samples.levels[0][slot >> BITS].of[which][slot & (WIDTH - 1)]


cdef inline void prefetch_slot(SampleTrees samples, int slot) noexcept nogil:
    """Prefetch a slot's samples, and the nodes they are compared with."""
    prefetch(&samples.levels[0][slot >> BITS].of[0])
    prefetch(&samples.levels[0][slot >> BITS].of[1])
    if samples.n_levels > 3:  # the upper levels are near anyway
        prefetch(&samples.levels[1][slot >> 2 * BITS].of[0])
        prefetch(&samples.levels[1][slot >> 2 * BITS].of[1])


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
