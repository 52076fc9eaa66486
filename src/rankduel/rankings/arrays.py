"""Array types of ranking tables."""

import numpy as np
import numpy.typing as npt

__all__ = ["Offsets", "Places"]

Offsets = npt.NDArray[np.int64]
Places = npt.NDArray[np.uint16 | np.int32]  # one or the other
