from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rankduel.interleaving.multileaving import Multileaving

@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    documents: npt.NDArray[np.int32]
    clicked: npt.NDArray[np.bool_]
    preferences: npt.NDArray[np.float64]

class Tables:
    def __init__(self, scores: npt.NDArray[np.float64]) -> None: ...

def trial(
    method: Multileaving,
    scores: npt.ArrayLike,
    clicks: npt.ArrayLike,
    *,
    k: int = 10,
    impressions: int = 1000,
    ties: Literal["file", "consistent"] = "consistent",
    seed: int | None = None,
) -> Trial: ...
