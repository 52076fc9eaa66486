from rankduel.interleaving.base import Interleaving

class TeamDraftInterleaving(Interleaving):
    def __init__(self) -> None: ...
