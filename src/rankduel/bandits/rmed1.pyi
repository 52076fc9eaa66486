from rankduel.bandits.base import Bandit

class RMED1(Bandit):
    def __init__(self, n_arms: int, *, f: float | None = None, seed: int | None = None) -> None: ...
