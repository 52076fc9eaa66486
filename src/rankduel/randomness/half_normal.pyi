import numpy as np
import numpy.typing as npt

def half_normals(seed: int, n: int) -> npt.NDArray[np.float64]: ...
