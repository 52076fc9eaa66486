from collections.abc import Iterable
from os import PathLike

import numpy as np
import numpy.typing as npt

__all__ = ["LAWS", "Delay", "Empirical", "Fixed", "Geometric", "delay_from"]

class Delay:
    def __init__(
        self, *, in_flight: float | None = None, unanswered: float = 0.0, timeout: float | None = None
    ) -> None: ...
    @property
    def in_flight(self) -> int | None: ...
    @property
    def unanswered(self) -> float: ...
    @property
    def timeout(self) -> int | None: ...
    @property
    def fingerprint(self) -> str: ...
    def sample(self, n: int, seed: int = 0) -> npt.NDArray[np.int64]: ...

class Fixed(Delay):
    def __init__(
        self, duels: float, *, in_flight: float | None = None, unanswered: float = 0.0, timeout: float | None = None
    ) -> None: ...
    @property
    def duels(self) -> int: ...

class Geometric(Delay):
    def __init__(
        self, mean: float, *, in_flight: float | None = None, unanswered: float = 0.0, timeout: float | None = None
    ) -> None: ...
    @property
    def mean(self) -> float: ...

class Empirical(Delay):
    def __init__(
        self,
        delays: Iterable[float] | None = None,
        *,
        file: str | PathLike[str] | None = None,
        in_flight: float | None = None,
        unanswered: float = 0.0,
        timeout: float | None = None,
    ) -> None: ...
    @property
    def delays(self) -> npt.NDArray[np.int64]: ...
    @property
    def mean(self) -> float: ...

LAWS: dict[str, type[Delay]]

def delay_from(spec: str) -> Delay: ...
