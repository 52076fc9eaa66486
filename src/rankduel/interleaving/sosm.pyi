from rankduel.interleaving.multileaving import ScoredMultileaving

class SOSM(ScoredMultileaving):
    def __init__(self, tau: float = 3.0) -> None: ...
