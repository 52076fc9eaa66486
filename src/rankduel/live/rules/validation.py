"""Validation of arguments. Each error names the argument, what it must be, and the value."""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from rankduel.errors import brief

__all__ = ["MAX_NAME_CHARACTERS", "as_list", "brief", "check_name", "known", "number", "some_of", "whole"]

MAX_NAME_CHARACTERS = 200  # of a name or an id
_MAX_NAMES_IN_ERROR = 20


def check_name(what: str, value: object, max_characters: int = MAX_NAME_CHARACTERS) -> str:
    """Check a name or an id, and return it.

    >>> check_name("query_id", "")
    Traceback (most recent call last):
    ValueError: query_id must be 1 to 200 printable characters, got ''
    """
    if not isinstance(value, str) or not 0 < len(value) <= max_characters or not value.isprintable():
        raise ValueError(f"{what} must be 1 to {max_characters} printable characters, got {brief(value)}")
    return value


def number(what: str, value: float, *, at_least: float = 0.0, below: float = math.inf) -> float:
    """Check that at_least <= value < below, and return the value as a float.

    >>> number("share", -1)
    Traceback (most recent call last):
    ValueError: share must be a number of at least 0, got -1
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not at_least <= value < min(below, 1e300):
        limit = "" if math.isinf(below) else f" and below {below:g}"
        raise ValueError(f"{what} must be a number of at least {at_least:g}{limit}, got {brief(value)}")
    return float(value)


def whole(what: str, value: int, *, at_least: int = 0) -> int:
    """Check a whole number, and return it as an int.

    >>> whole("minimum", 2.5)
    Traceback (most recent call last):
    ValueError: minimum must be a whole number of at least 0, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not at_least <= value < 2**63:
        raise ValueError(f"{what} must be a whole number of at least {at_least}, got {brief(value)}")
    return int(value)


def known(what: str, stored: object, names: Iterable[str]) -> dict[str, Any]:
    """Check that a dictionary has only known keys, and return a copy.

    >>> known("a guardrail", {"bund": 0.1}, ("action", "bound"))
    Traceback (most recent call last):
    ValueError: unknown field 'bund' in a guardrail; known fields: action, bound
    """
    names = tuple(names)
    if not isinstance(stored, Mapping):
        raise ValueError(f"{what} must be a dictionary, got {brief(stored)}")
    for key in stored:
        if key not in names:
            raise ValueError(f"unknown field {brief(key)} in {what}; known fields: {', '.join(names)}")
    return dict(stored)


def as_list(what: str, given: Iterable[Any]) -> list[Any]:
    """Return an iterable as a list. Raise TypeError for a string, a dictionary or anything not iterable."""
    if type(given) is list:  # the common case
        return given
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list, got {brief(given)}")
    return list(given)


def some_of(names: Sequence[str]) -> str:
    """Join names for an error message: all of them, or the first 20.

    >>> some_of(["bm25", "ltr"])
    'bm25, ltr'
    """
    more = len(names) - _MAX_NAMES_IN_ERROR
    return ", ".join(names[:_MAX_NAMES_IN_ERROR]) + (f" and {more:,} more" if more > 0 else "")
