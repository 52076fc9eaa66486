"""URL parameters: declarations with limits, parsing and validation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from rankduel.service.problems import Problem

__all__ = ["Parameter", "parse_path", "parse_query"]

_MAX_PARAMETERS = 20
_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter: a string, one of some words, or a whole number within limits."""

    name: str
    description: str
    default: int | None = None  # None: the parameter is a string
    minimum: int = 0
    maximum: int = 500  # of a number, or the number of characters of a string
    pattern: str | None = None  # of a string
    choices: tuple[str, ...] = ()  # of a word; the first is the default


def parse_path(parameters: dict[str, str]) -> dict[str, str]:
    """Decode percent-encoded path parameters.

    >>> parse_path({"name": "home", "ranker": "a%2Fb"})
    {'name': 'home', 'ranker': 'a/b'}
    """
    return {name: _unquoted(value) if "%" in value else value for name, value in parameters.items()}


def _unquoted(part: str) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        detail = f"the path segment {part[:200]!r} is not UTF-8; percent-encode names as UTF-8"
        raise Problem("bad-request", detail, value=part[:200]) from None


def parse_query(parameters: Sequence[Parameter], query: bytes) -> dict[str, Any]:
    """Parse a query string by the parameters that a route declares. Raise a Problem for unknown parameters.

    >>> parse_query([Parameter("limit", "", default=100), Parameter("after", "")], b"after=q%201")
    {'limit': 100, 'after': 'q 1'}
    >>> parse_query([Parameter("sort", "", choices=("name", "duels"))], b"")
    {'sort': 'name'}
    """
    values: dict[str, Any] = {known.name: known.default for known in parameters if known.default is not None}
    values |= {known.name: known.choices[0] for known in parameters if known.choices}
    if not query:
        return values
    by_name = {known.name: known for known in parameters}
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS
        )
    except ValueError:
        detail = f"malformed query string; send percent-encoded UTF-8 and at most {_MAX_PARAMETERS} parameters"
        raise Problem("bad-request", detail) from None
    for name, text in pairs:
        if name not in by_name:
            detail = f"unknown query parameter {name[:200]!r}; known parameters: {', '.join(by_name) or 'none'}"
            raise Problem("bad-value", detail, value=name[:200])
        values[name] = _value(by_name[name], text)
    return values


def _value(known: Parameter, text: str) -> Any:
    if known.choices and text not in known.choices:
        detail = f"{known.name} must be one of {', '.join(known.choices)}, got {text[:200]!r}"
        raise Problem("bad-value", detail, value=text[:200])
    if known.default is None:
        if len(text) > known.maximum:
            detail = f"{known.name} must have at most {known.maximum} characters, got {len(text)}"
            raise Problem("bad-value", detail, value=text[:200])
        if known.pattern is not None and re.fullmatch(known.pattern, text) is None:
            detail = f"{known.name} must match {known.pattern}, got {text[:200]!r}"
            raise Problem("bad-value", detail, value=text[:200])
        return text
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    if not is_number or not known.minimum <= int(text) <= known.maximum:
        expected = f"a whole number from {known.minimum} to {known.maximum}"
        raise Problem("bad-value", f"{known.name} must be {expected}, got {text[:200]!r}", value=text[:200])
    return int(text)
