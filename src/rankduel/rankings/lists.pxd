from libc.stdint cimport int32_t

from rankduel.rankings.ranked cimport ranked_t


cdef class Lists:
    cdef readonly list documents  # all that occur, in the order of their first occurrence: document number -> document
    cdef readonly int n_documents
    cdef readonly int n_rankings
    cdef ranked_t *ranked  # one for each ranking; a document that it does not have is ABSENT
    cdef int32_t *memory
