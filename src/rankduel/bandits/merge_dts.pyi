from rankduel.bandits.elimination import Rule
from rankduel.bandits.families.merging import Merging

class MergeDTS(Merging):
    def __init__(
        self,
        n_arms: int,
        *,
        alpha: float = 0.262144,
        batch_size: int = 16,
        c: float = 4e6,
        elimination: Rule = None,
        seed: int | None = None,
    ) -> None: ...
