from libc.stdint cimport int32_t

from rankduel.rankings.ranked cimport ranked_t


cdef class Lists:
    cdef readonly list documents  # by document number: all documents, in the order of their first occurrence
    cdef readonly int n_documents
    cdef readonly int n_rankings
    cdef ranked_t *ranked  # one for each ranking. A document that is not in the ranking is ABSENT
    cdef int32_t *memory
