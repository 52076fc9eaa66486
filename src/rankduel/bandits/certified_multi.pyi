import numpy as np
import numpy.typing as npt

from rankduel.bandits.multi_bandit import MultiBandit

class CertifiedMulti(MultiBandit):
    def __init__(
        self, n_arms: int, *, delta: float = 0.05, arms_per_duel: int = 4, seed: int | None = None
    ) -> None: ...
    @property
    def evidence(self) -> npt.NDArray[np.float64]: ...
