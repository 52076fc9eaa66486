from rankduel.interleaving.multileaving cimport ScoredMultileaving


cdef class TeamDraftMultileaving(ScoredMultileaving):
    pass
