from typing import Literal

from rankduel.bandits.families.multi_optimistic import MultiOptimistic

class MultiUCB(MultiOptimistic):
    def __init__(
        self,
        n_arms: int,
        *,
        alpha: float = 0.51,
        rule: Literal["corrected", "released"] = "corrected",
        seed: int | None = None,
    ) -> None: ...
