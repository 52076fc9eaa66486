# Basic random draws on NumPy's C API, inlined into every kernel.

from libc.stdint cimport uint64_t

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_interval


cdef inline double uniform(bitgen_t *rng) noexcept nogil:
    """A uniform number in [0, 1)."""
    return rng.next_double(rng.state)


cdef inline uint64_t eight_bytes(bitgen_t *rng) noexcept nogil:
    """64 random bits."""
    return rng.next_uint64(rng.state)


cdef inline uint64_t eight_bytes_if(bitgen_t *rng, bint needed) noexcept nogil:
    """64 random bits if they are needed, else all ones, which saves a draw."""
    return rng.next_uint64(rng.state) if needed else ~(<uint64_t>0)


cdef inline int below(bitgen_t *rng, int n) noexcept nogil:
    """A uniform integer from 0 to n - 1."""
    return <int>random_interval(rng, n - 1) if n > 1 else 0


cdef struct best_t:
    double value
    int index
    int ties  # number of candidates with that value, 0 if the value is only a threshold


cdef inline void consider(bitgen_t *rng, best_t *best, double value, int index) noexcept nogil:
    """Streaming argmax: keep the larger value, and break ties uniformly at random."""
    if value > best.value:
        best.value, best.index, best.ties = value, index, 1
    elif value == best.value:
        best.ties += 1
        if below(rng, best.ties) == 0:
            best.index = index
