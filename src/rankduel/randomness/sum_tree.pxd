# Sum tree of weights: change a weight, or draw a leaf in proportion to its weight, both in O(log n).
#
# The leaves are nodes size .. 2 size - 1, and node i is the sum of nodes 2 i and 2 i + 1. The total is in node 1. A sum
# is always computed from its two children, so that rounding errors do not accumulate.

from numpy.random cimport bitgen_t

from rankduel.randomness.draws cimport uniform


cdef inline int tree_size(int n) noexcept nogil:
    """The number of leaves of a tree for n weights, a power of two. The array needs twice this length."""
    cdef int size = 1
    while size < n:
        size *= 2
    return size


cdef inline void tree_build(double *tree, int size) noexcept nogil:
    """Compute all sums from the leaves."""
    cdef int node
    for node in range(size - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


cdef inline void tree_change(double *tree, int size, int leaf, double weight) noexcept nogil:
    cdef int node = size + leaf
    tree[node] = weight
    while node > 1:
        node //= 2
        tree[node] = tree[2 * node] + tree[2 * node + 1]


cdef inline int tree_draw(bitgen_t *rng, const double *tree, int size) noexcept nogil:
    """Draw a leaf in proportion to its weight. At least one weight must be positive."""
    cdef double left = uniform(rng) * tree[1]
    cdef int node = 1
    while node < size:
        node *= 2
        if left >= tree[node] and tree[node + 1] > 0:  # with rounding, the right side may be empty
            left -= tree[node]
            node += 1
    return node - size
