from rankduel.bandits.base import Bandit

class Optimistic(Bandit):
    def __init__(self, n_arms: int, *, alpha: float, seed: int | None) -> None: ...
