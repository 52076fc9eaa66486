from rankduel.bandits import MultiUCB
from rankduel.interleaving import Multileaving
from rankduel.simulation.search import Users

class MultiPlay:
    regret: float
    settled: bool
    settled_at: None
    over: bool
    def __init__(self, bandit: MultiUCB, world: Users, method: Multileaving) -> None: ...
    @property
    def bandit(self) -> MultiUCB: ...
    @property
    def world(self) -> Users: ...
    @property
    def duels(self) -> int: ...
    def advance(self, until: int) -> None: ...
