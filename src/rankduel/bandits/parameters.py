"""Validation of parameters, for the constructors of bandits."""

import math
from numbers import Integral, Real

from rankduel.errors import brief

__all__ = ["MAX_WHOLE", "number", "whole"]

MAX_WHOLE = 2**30  # kernels hold whole numbers, and the sum of two of them, in a C int


def number(name: str, value: float, *, above: float = 0.0, at_most: float = math.inf) -> float:
    """Return the value as a float. It must be finite, with above < value <= at_most.

    >>> number("alpha", -1)
    Traceback (most recent call last):
    ValueError: alpha must be > 0, got -1
    """
    expected = f"> {above:g}" + ("" if math.isinf(at_most) else f" and <= {at_most:g}")
    try:
        found = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an int that is too large for a float
        found = math.inf
    if not above < found <= at_most or math.isinf(found):
        raise ValueError(f"{name} must be {expected}, got {brief(value)}")
    return found


def whole(name: str, value: int, *, minimum: int, maximum: int = MAX_WHOLE) -> int:
    """Return the value as an int. It must be a whole number from minimum to maximum.

    >>> whole("batch_size", 2.5, minimum=2)
    Traceback (most recent call last):
    ValueError: batch_size must be a whole number of at least 2, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not minimum <= value <= maximum:
        limit = f" and at most {maximum}" if isinstance(value, Integral) and value > maximum else ""
        raise ValueError(f"{name} must be a whole number of at least {minimum}{limit}, got {brief(value)}")
    return int(value)
