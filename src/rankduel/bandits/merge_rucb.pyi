from rankduel.bandits.elimination import Rule
from rankduel.bandits.families.merging import Merging

class MergeRUCB(Merging):
    def __init__(
        self,
        n_arms: int,
        *,
        alpha: float = 0.262144,
        batch_size: int = 8,
        c: float = 4e5,
        elimination: Rule = None,
        seed: int | None = None,
    ) -> None: ...
