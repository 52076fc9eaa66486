from rankduel.bandits.families.eliminating import Eliminating

class Optimistic(Eliminating):
    def __init__(self, n_arms: int, *, alpha: float, seed: int | None) -> None: ...
