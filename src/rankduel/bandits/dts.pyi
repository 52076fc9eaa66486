from rankduel.bandits.elimination import Rule
from rankduel.bandits.families.optimistic import Optimistic

class DTS(Optimistic):
    def __init__(
        self, n_arms: int, *, alpha: float = 0.2097152, elimination: Rule = None, seed: int | None = None
    ) -> None: ...
