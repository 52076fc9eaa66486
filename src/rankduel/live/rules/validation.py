"""Validation of values from outside: each error says what must be there, and shows the value."""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from rankduel.errors import brief

__all__ = ["MAX_NAME_CHARACTERS", "as_list", "brief", "check_name", "known", "number", "some_of", "whole"]

MAX_NAME_CHARACTERS = 200  # of a name or an id
_MAX_NAMES_IN_ERROR = 20


def check_name(what: str, value: object, max_characters: int = MAX_NAME_CHARACTERS) -> str:
    """A name or an id.

    >>> check_name("query_id", "")
    Traceback (most recent call last):
    ValueError: query_id must be 1 to 200 printable characters, got ''
    """
    if not isinstance(value, str) or not 0 < len(value) <= max_characters or not value.isprintable():
        raise ValueError(f"{what} must be 1 to {max_characters} printable characters, got {brief(value)}")
    return value


def number(what: str, value: float, *, at_least: float = 0.0, below: float = math.inf) -> float:
    """A finite number with at_least <= value < below, as a float.

    >>> number("share", -1)
    Traceback (most recent call last):
    ValueError: share must be a number of at least 0, got -1
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not at_least <= value < min(below, 1e300):
        limit = "" if math.isinf(below) else f" and below {below:g}"
        raise ValueError(f"{what} must be a number of at least {at_least:g}{limit}, got {brief(value)}")
    return float(value)


def whole(what: str, value: int, *, at_least: int = 0) -> int:
    """A whole number, as an int.

    >>> whole("minimum", 2.5)
    Traceback (most recent call last):
    ValueError: minimum must be a whole number of at least 0, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not at_least <= value < 2**63:
        raise ValueError(f"{what} must be a whole number of at least {at_least}, got {brief(value)}")
    return int(value)


def known(what: str, stored: object, names: Iterable[str]) -> dict[str, Any]:
    """A dictionary that has no other keys than these.

    >>> known("a guardrail", {"bund": 0.1}, ("action", "bound"))
    Traceback (most recent call last):
    ValueError: a guardrail has no 'bund', expected some of action, bound
    """
    names = tuple(names)
    if not isinstance(stored, Mapping):
        raise ValueError(f"{what} must be a dictionary, got {brief(stored)}")
    for key in stored:
        if key not in names:
            raise ValueError(f"{what} has no {brief(key)}, expected some of {', '.join(names)}")
    return dict(stored)


def as_list(what: str, given: Iterable[Any]) -> list[Any]:
    """A list, from anything but a text or a dictionary."""
    if type(given) is list:  # as most are
        return given
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list, got {brief(given)}")
    return list(given)


def some_of(names: Sequence[str]) -> str:
    """Names for an error message: all of them, or the first 20.

    >>> some_of(["bm25", "ltr"])
    'bm25, ltr'
    """
    more = len(names) - _MAX_NAMES_IN_ERROR
    return ", ".join(names[:_MAX_NAMES_IN_ERROR]) + (f" and {more:,} more" if more > 0 else "")
