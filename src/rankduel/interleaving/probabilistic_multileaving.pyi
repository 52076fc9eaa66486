from rankduel.interleaving.multileaving import Multileaving

class ProbabilisticMultileaving(Multileaving):
    def __init__(self, tau: float = 3.0) -> None: ...
