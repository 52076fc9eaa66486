from rankduel.bandits.base import Bandit

class Uniform(Bandit):
    def __init__(self, n_arms: int, *, seed: int | None = None) -> None: ...
