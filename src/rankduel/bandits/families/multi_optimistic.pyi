import numpy as np
import numpy.typing as npt

from rankduel.bandits.multi_bandit import MultiBandit

class MultiOptimistic(MultiBandit):
    @property
    def candidates(self) -> npt.NDArray[np.int64]: ...
    @property
    def wins(self) -> npt.NDArray[np.float64]: ...
