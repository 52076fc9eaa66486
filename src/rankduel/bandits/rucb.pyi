from rankduel.bandits.families.optimistic import Optimistic

class RUCB(Optimistic):
    def __init__(self, n_arms: int, *, alpha: float = 0.51, seed: int | None = None) -> None: ...
