"""Half-normal variates: |Z| for a standard normal Z.

The method is a ziggurat of 256 strips (Marsaglia and Tsang 2000). The bits that choose the strip are not used for the
position in it, as Doornik (2005) advises. NumPy draws a normal variate as fast, but its unpredictable branch on the
sign costs as much as the draw, and the Beta kernels need no sign.
"""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport erfc, exp, log, log1p, sqrt
from libc.stdint cimport uint64_t

from rankduel.randomness.draws cimport eight_bytes, uniform
from rankduel.randomness.streams import bit_generator

cnp.import_array()

cdef enum:
    STRIPS = 256
cdef double EDGE = 3.654152885361009  # where the tail begins, for strips of equal area

cdef double[STRIPS + 1] edge  # right edge of strip i. Strip 0 is the lowest, and includes the tail
cdef double[STRIPS + 1] height  # exp(-x^2 / 2) at the edge
cdef double[STRIPS] scale  # edge / 2^52
cdef uint64_t[STRIPS] inside  # a point of the strip below this is under the curve for sure


cdef void build():
    cdef double area = EDGE * exp(-EDGE * EDGE / 2) + sqrt(np.pi / 2) * erfc(EDGE / sqrt(2))
    cdef int i
    edge[0], edge[1], edge[STRIPS] = area / exp(-EDGE * EDGE / 2), EDGE, 0
    for i in range(1, STRIPS - 1):
        edge[i + 1] = sqrt(-2 * log(area / edge[i] + exp(-edge[i] * edge[i] / 2)))
    for i in range(STRIPS + 1):
        height[i] = exp(-edge[i] * edge[i] / 2)
    for i in range(STRIPS):
        scale[i] = edge[i] / 2.0**52
        inside[i] = <uint64_t>(edge[i + 1] / edge[i] * 2.0**52)


build()


cdef double half_normal(bitgen_t *rng) noexcept nogil:
    cdef uint64_t bits, at
    cdef double x
    cdef int i
    while True:
        bits = eight_bytes(rng)
        i, at = <int>(bits & (STRIPS - 1)), bits >> 12
        x = at * scale[i]
        if at < inside[i]:  # 99 of 100 draws end here
            return x
        if i == 0:
            return EDGE + beyond(rng)
        if height[i] + uniform(rng) * (height[i + 1] - height[i]) < exp(-x * x / 2):
            return x


cdef double beyond(bitgen_t *rng) noexcept nogil:
    """The distance beyond the last edge, for a variate in the tail (Marsaglia 1964)."""
    cdef double x
    while True:
        x = -log1p(-uniform(rng)) / EDGE
        if -2 * log1p(-uniform(rng)) > x * x:
            return x


def half_normals(seed, n):
    """Draw n half-normal variates into an array, for tests.

    >>> half_normals(1, 100_000).mean().round(2), round((2 / np.pi) ** 0.5, 2)
    (np.float64(0.8), 0.8)
    """
    cdef object stream = bit_generator(seed, "half_normals")
    cdef bitgen_t *rng = <bitgen_t *>PyCapsule_GetPointer(stream.capsule, "BitGenerator")
    cdef cnp.ndarray values = np.empty(n)
    cdef double *value = <double *>cnp.PyArray_DATA(values)
    cdef Py_ssize_t k
    for k in range(n):
        value[k] = half_normal(rng)
    return values
