from rankduel.bandits.elimination import Rule
from rankduel.bandits.families.eliminating import Eliminating

class Uniform(Eliminating):
    def __init__(self, n_arms: int, *, elimination: Rule = None, seed: int | None = None) -> None: ...
