# A random stream that opens in nanoseconds, one per interleaved list. SplitMix64 (Steele, Lea, Flood 2014): every seed
# is a good seed, and the numbers are the same on every machine and with every version of NumPy.

from libc.stdint cimport uint32_t, uint64_t

from numpy.random cimport bitgen_t

cdef enum:
    CLICKS = 1  # purpose: a simulated user, whose stream must differ from a list's with the same seed

cdef struct small_t:
    bitgen_t rng  # for code that expects a NumPy stream
    uint64_t state


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Scramble the bits of x: a bijection on 64-bit numbers."""
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
    """Start the stream of a seed. Do not move the struct afterwards: it contains a pointer to itself."""
    stream.state = seed
    stream.rng.state = &stream.state
    stream.rng.next_uint64 = small_next
    stream.rng.next_uint32 = small_next32
    stream.rng.next_double = small_double
    stream.rng.next_raw = small_next


cdef inline uint64_t small_seed(object seed, uint64_t purpose=0) except? 0:
    """Fold a user's seed of any length into 64 bits. Each purpose gives a different seed."""
    cdef uint64_t folded = mix(purpose)
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or hasattr(seed, "__len__") or seed < 0:
        raise ValueError(f"seed must be a non-negative int, got {seed!r}")
    seed = seed.__index__()  # accepts NumPy integers too
    while seed >> 64:
        folded = mix(folded ^ <uint64_t>(seed & 0xFFFFFFFFFFFFFFFF)) + 1
        seed >>= 64
    return folded ^ <uint64_t>seed
