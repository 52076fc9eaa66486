from rankduel.bandits.base import Bandit

class REX3(Bandit):
    def __init__(self, n_arms: int, *, gamma: float | None = None, seed: int | None = None) -> None: ...
