# Weights in a tree of sums: change one, or find whose turn it is in proportion to them, both in O(log n).
#
# Leaves are nodes size .. 2 size - 1, and node i is the sum of nodes 2 i and 2 i + 1: the sum of all is in node 1. A sum is
# always added up from the two below it, so that rounding does not add up over time.

from numpy.random cimport bitgen_t

from rankduel.randomness.draws cimport uniform


cdef inline int tree_size(int n) noexcept nogil:
    """Of a tree with at least n leaves; it takes twice as many numbers."""
    cdef int size = 1
    while size < n:
        size *= 2
    return size


cdef inline void tree_build(double *tree, int size) noexcept nogil:
    """Sum up the leaves."""
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
    """A leaf, in proportion to its weight; there is one with a weight."""
    cdef double left = uniform(rng) * tree[1]
    cdef int node = 1
    while node < size:
        node *= 2
        if left >= tree[node] and tree[node + 1] > 0:  # by rounding, there may be nobody on the right
            left -= tree[node]
            node += 1
    return node - size
