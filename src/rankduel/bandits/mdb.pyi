from rankduel.bandits.families.multi_optimistic import MultiOptimistic

class MDB(MultiOptimistic):
    def __init__(self, n_arms: int, *, alpha: float = 0.51, beta: float = 1.5, seed: int | None = None) -> None: ...
