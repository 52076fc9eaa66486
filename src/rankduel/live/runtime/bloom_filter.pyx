"""A growing Bloom filter: recognises keys that were never added, with a few bits per key."""

from cpython.bytearray cimport PyByteArray_AS_STRING

# A layer that is full says "maybe" for 0.003 % of the keys that were never added: (1 - exp(-6 / 32)) ** 6. So even a
# batch of 100 new queries rarely needs the disk.
cdef int BITS = 32  # per key; a power of two
cdef int PROBES = 6  # bits that a key sets


cdef class BloomFilter:
    """A growing set of strings without false negatives and with few false positives (Bloom, 1970).

    >>> asked = BloomFilter()
    >>> asked.add("q-81")
    >>> "q-81" in asked, "q-82" in asked
    (True, False)
    >>> asked.found(["q-80", "q-81"])
    ['q-81']
    """

    cdef list layers  # of bits; each layer has twice the capacity of the layer before
    cdef Py_ssize_t first, room  # capacity of the first layer in keys, and free capacity of the last layer

    def __init__(self, Py_ssize_t first=2**17):
        self.layers, self.first, self.room = [], first, 0

    def add(self, str key not None):
        """Add a key."""
        if not self.room:
            self.room = self.first << len(self.layers)
            self.layers.append(bytearray(self.room * BITS // 8))
        self.room -= 1
        set_bits(self.layers[len(self.layers) - 1], hash(key))

    def __contains__(self, str key not None):
        cdef Py_hash_t code = hash(key)
        cdef bytearray bits
        for bits in self.layers:
            if all_bits(bits, code):
                return True
        return False

    def found(self, list keys not None):
        """Return the keys that may have been added. The others were certainly not added."""
        return [key for key in keys if key in self]


# The bits of a key are at `start`, `start + step`, `start + 2 * step`, ... (double hashing).

cdef inline void set_bits(bytearray bits, Py_hash_t code):
    cdef unsigned char *byte = <unsigned char *>PyByteArray_AS_STRING(bits)
    cdef size_t mask = 8 * len(bits) - 1, start = <size_t>code, step = (<size_t>code >> 29) | 1, at
    cdef int probe
    for probe in range(PROBES):
        at = (start + probe * step) & mask
        byte[at >> 3] |= 1 << (at & 7)


cdef inline bint all_bits(bytearray bits, Py_hash_t code):
    cdef unsigned char *byte = <unsigned char *>PyByteArray_AS_STRING(bits)
    cdef size_t mask = 8 * len(bits) - 1, start = <size_t>code, step = (<size_t>code >> 29) | 1, at
    cdef int probe
    for probe in range(PROBES):
        at = (start + probe * step) & mask
        if not byte[at >> 3] >> (at & 7) & 1:
            return False
    return True
