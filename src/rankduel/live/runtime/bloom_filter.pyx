"""A growing Bloom filter: recognises keys that were never added, with a few bits per key."""

from cpython.bytearray cimport PyByteArray_AS_STRING

cdef int BITS = 8  # per key


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
        cdef bytearray bits = self.layers[len(self.layers) - 1]
        cdef unsigned char *byte = <unsigned char *>PyByteArray_AS_STRING(bits)
        cdef Py_hash_t code = hash(key)
        cdef size_t mask = 8 * len(bits) - 1, one = <size_t>code & mask, other = <size_t>(code >> 29) & mask
        byte[one >> 3] |= 1 << (one & 7)
        byte[other >> 3] |= 1 << (other & 7)

    def __contains__(self, str key not None):
        cdef unsigned char *byte
        cdef Py_hash_t code = hash(key)
        cdef size_t mask, one, other
        cdef bytearray bits
        for bits in self.layers:
            byte = <unsigned char *>PyByteArray_AS_STRING(bits)
            mask = 8 * len(bits) - 1
            one, other = <size_t>code & mask, <size_t>(code >> 29) & mask
            if byte[one >> 3] >> (one & 7) & 1 and byte[other >> 3] >> (other & 7) & 1:
                return True
        return False

    def found(self, list keys not None):
        """Return the keys that may have been added. The others were certainly not added."""
        return [key for key in keys if key in self]
