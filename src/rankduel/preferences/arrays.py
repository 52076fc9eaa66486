"""Read-only arrays."""

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "read_only"]

Floats = npt.NDArray[np.float64]


def read_only(array: npt.ArrayLike) -> Floats:
    """Return a read-only, C-contiguous float64 copy of an array.

    >>> read_only([1, 2])[0] = 3
    Traceback (most recent call last):
    ...
    ValueError: assignment destination is read-only
    """
    locked = np.array(array, dtype=np.float64, order="C")
    locked.flags.writeable = False
    return locked
