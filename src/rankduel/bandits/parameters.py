"""Validation of an algorithm's parameters, at the door: the constructor."""

import math
from numbers import Integral, Real

__all__ = ["number", "whole"]


def number(name: str, value: float, *, above: float = 0.0, at_most: float = math.inf) -> float:
    """A finite number with above < value <= at_most, as a float.

    >>> number("alpha", -1)
    Traceback (most recent call last):
    ValueError: alpha must be > 0, got -1
    """
    expected = f"> {above:g}" + ("" if math.isinf(at_most) else f" and <= {at_most:g}")
    if isinstance(value, bool) or not isinstance(value, Real) or not above < value <= at_most or math.isinf(value):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return float(value)


def whole(name: str, value: int, *, minimum: int, maximum: float = math.inf) -> int:
    """A whole number from minimum to maximum, as an int.

    >>> whole("batch_size", 2.5, minimum=2)
    Traceback (most recent call last):
    ValueError: batch_size must be a whole number of at least 2, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not minimum <= value <= maximum:
        expected = f"of at least {minimum}" if math.isinf(maximum) else f"from {minimum} to {maximum}"
        raise ValueError(f"{name} must be a whole number {expected}, got {value!r}")
    return int(value)
