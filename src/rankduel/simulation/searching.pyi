from rankduel.clicks import ClickModel
from rankduel.datasets import Collection
from rankduel.interleaving import Interleaving

TIES: dict[str, int]

class Searching:
    def __init__(
        self, collection: Collection, interleaving: Interleaving, clicks: ClickModel, k: int, ties: str
    ) -> None: ...
    @property
    def n_rankers(self) -> int: ...
    @property
    def n_queries(self) -> int: ...
    @property
    def k(self) -> int: ...
