from rankduel.interleaving.base import Interleaving

class BalancedInterleaving(Interleaving):
    def __init__(self, depth: str = "lowest") -> None: ...
