"""Validation of the probabilities that a click model is made of."""

from collections.abc import Iterable
from numbers import Real

__all__ = ["probabilities"]


def probabilities(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Return the values as a tuple of floats. ValueError if one is not a probability, or if there are none.

    >>> probabilities("click", [0, 0.5])
    (0.0, 0.5)
    >>> probabilities("click", [0, 1.5])
    Traceback (most recent call last):
    ValueError: click[1] must be a probability from 0 to 1, got 1.5
    """
    given = list(values)
    if not given:
        raise ValueError(f"{name} needs at least one probability, got none")
    for index, value in enumerate(given):
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:
            raise ValueError(f"{name}[{index}] must be a probability from 0 to 1, got {value!r}")
    return tuple(map(float, given))
