from rankduel.bandits.families.eliminating import Judged

class Optimistic(Judged):
    def __init__(self, n_arms: int, *, alpha: float, seed: int | None) -> None: ...
