from rankduel.bandits.optimistic import Optimistic

class DTS(Optimistic):
    def __init__(self, n_arms: int, *, alpha: float = 0.2097152, seed: int | None = None) -> None: ...
