"""Duels in flight: shown to users, but without an outcome yet."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc


cdef class DuelsInFlight:
    """A heap ordered by due page, then by the number of the duel."""

    def __dealloc__(self):
        free(self.heap)

    cdef int push(self, const in_flight_t *one) except -1 nogil:
        """Add a duel."""
        cdef int64_t place = self.n
        if self.n == self.capacity:
            self.grow()
        self.n += 1
        while place > 0 and before(one, &self.heap[(place - 1) // 2]):
            self.heap[place] = self.heap[(place - 1) // 2]
            place = (place - 1) // 2
        self.heap[place] = one[0]
        return 0

    cdef in_flight_t pop(self) noexcept nogil:
        """Remove the duel that is due next."""
        cdef in_flight_t next = self.heap[0]
        cdef const in_flight_t *last = &self.heap[self.n - 1]
        cdef int64_t place = 0, child = 1
        self.n -= 1
        while child < self.n:
            if child + 1 < self.n and before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not before(&self.heap[child], last):
                break
            self.heap[place] = self.heap[child]
            place, child = child, 2 * child + 1
        self.heap[place] = last[0]
        return next

    cdef int grow(self) except -1 nogil:
        cdef int64_t capacity = 2 * self.capacity + 64
        cdef in_flight_t *heap = <in_flight_t *>realloc(self.heap, capacity * sizeof(in_flight_t))
        if heap == NULL:
            with gil:
                raise MemoryError(f"not enough memory for {capacity} duels in flight; set in_flight to limit them")
        self.heap, self.capacity = heap, capacity
        return 0


cdef inline bint before(const in_flight_t *one, const in_flight_t *other) noexcept nogil:
    return one.due < other.due or (one.due == other.due and one.duel.number < other.duel.number)
