import numpy as np
import numpy.typing as npt

from rankduel.simulation.search_world import SearchWorld
from rankduel.simulation.searching import Searching

class Comparing:
    stop: bool
    def __init__(self, world: SearchWorld, *, coin: bool) -> None: ...
    @property
    def searching(self) -> Searching: ...
    @property
    def wins(self) -> npt.NDArray[np.int64]: ...
    @property
    def duels(self) -> int: ...
    def play(
        self,
        bit_generator: np.random.BitGenerator,
        first: int,
        last: int,
        each: int,
        extra: npt.NDArray[np.int64],
        independent: bool,
    ) -> bool: ...
