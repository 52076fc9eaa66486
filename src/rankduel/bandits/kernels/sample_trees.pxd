# Two samples per slot, in trees of maxima with eight children per node: eight samples fill a cache line.

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
    void prefetch "rankduel_prefetch"(const void *address) noexcept nogil  # hint to load it into the cache
    int lowest_bit "rankduel_lowest_bit"(int bits) noexcept nogil  # index of the lowest set bit. Some bit must be set
    int reach "rankduel_reach"(const double *line, double value) noexcept nogil  # bit k is line[k] >= value

cdef enum:
    BITS = 3
    WIDTH = 1 << BITS
    MAX_LEVELS = 11  # enough, because 8^11 > 2^31

cdef double NO_SAMPLE  # the sample of a free slot

cdef struct block_t:
    double of[2][WIDTH]  # first and second samples of eight neighbours


cdef class SampleTrees:
    cdef block_t *levels[MAX_LEVELS]  # level 0: the slots. Level k: the maxima of each eight of level k - 1
    cdef int n_levels  # the last level has a single block
    cdef object _memory


# Functions instead of methods, so that the compiler inlines them into the kernel that uses them.

cdef inline void put(SampleTrees samples, int which, int slot, double value) noexcept nogil:
    """Set a sample and update the maxima above it, until one does not change.

    The eight children of a node are compared only if their old maximum has decreased.
    """
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
    """The slot with the largest sample, other than the given slot."""
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
    """Descend from a node to the slot below it that has its maximum, `value`."""
    while level > 0:
        level -= 1
        place = (place << BITS) + where(samples.levels[level][place].of[which], value)
    return place


cdef inline double get(SampleTrees samples, int which, int slot) noexcept nogil:
    return samples.levels[0][slot >> BITS].of[which][slot & (WIDTH - 1)]


cdef inline void prefetch_slot(SampleTrees samples, int slot) noexcept nogil:
    """Prefetch the samples of a slot and the nodes above them."""
    prefetch(&samples.levels[0][slot >> BITS].of[0])
    prefetch(&samples.levels[0][slot >> BITS].of[1])
    if samples.n_levels > 3:  # the upper levels stay in the cache
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
    """The first index of the largest value of a line. Without branches, which would be mispredicted."""
    return lowest_bit(reach(line, value) | 1 << (WIDTH - 1))
