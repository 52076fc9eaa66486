# A random stream that is made in nanoseconds, for one list on one page. SplitMix64 (Steele, Lea, Flood 2014): every
# seed is a good one, and the numbers are the same on every machine and with every NumPy.

from libc.stdint cimport uint32_t, uint64_t

from numpy.random cimport bitgen_t

cdef enum:
    CLICKS = 1  # the stream of a simulated user: another one than that of a list with the same seed

cdef struct small_t:
    bitgen_t rng  # for whatever takes a NumPy stream
    uint64_t state


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """A number that looks unrelated to x; one to one."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t small_next(void *state) noexcept nogil:
    (<uint64_t *>state)[0] += <uint64_t>0x9E3779B97F4A7C15
    return mix((<uint64_t *>state)[0])


cdef inline uint32_t small_next32(void *state) noexcept nogil:
    return <uint32_t>(small_next(state) >> 32)


cdef inline double small_double(void *state) noexcept nogil:
    return <double>(small_next(state) >> 11) / 9007199254740992.0


cdef inline void small_open(small_t *stream, uint64_t seed) noexcept nogil:
    """Begin the stream of that seed. The struct must not be moved afterwards."""
    stream.state = seed
    stream.rng.state = &stream.state
    stream.rng.next_uint64 = small_next
    stream.rng.next_uint32 = small_next32
    stream.rng.next_double = small_double
    stream.rng.next_raw = small_next


cdef inline uint64_t small_seed(object seed, uint64_t purpose=0) except? 0:
    """A seed as users give it, of any length, in 64 bits; other ones for another purpose."""
    cdef uint64_t folded = mix(purpose)
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or hasattr(seed, "__len__") or seed < 0:
        raise ValueError(f"seed must be a non-negative int, got {seed!r}")
    seed = seed.__index__()  # NumPy's integers, too
    while seed >> 64:
        folded = mix(folded ^ <uint64_t>(seed & 0xFFFFFFFFFFFFFFFF)) + 1
        seed >>= 64
    return folded ^ <uint64_t>seed
