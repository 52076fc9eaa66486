from typing import Self

from rankduel.bandits.base import Bandit
from rankduel.bandits.elimination import Rule

class Merging(Bandit):
    def __init__(
        self, n_arms: int, *, alpha: float, batch_size: int, c: float, elimination: Rule, seed: int | None
    ) -> None: ...
    @classmethod
    def theoretical(
        cls, n_arms: int, *, horizon: float, alpha: float = 1.01, batch_size: int = 4, seed: int | None = None
    ) -> Self: ...
    @property
    def batches(self) -> list[list[int]]: ...
