from rankduel.interleaving.multileaving import ScoredMultileaving

class TeamDraftMultileaving(ScoredMultileaving):
    def __init__(self) -> None: ...
