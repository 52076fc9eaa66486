"""Entries of `rankduel bandits` and `rankduel problems`."""

import inspect
from collections.abc import Mapping

__all__ = ["entry"]


def entry(name: str, docstring: str | None, options: Mapping[str, object]) -> str:
    """Format a name with its options and defaults, and the first line of its docstring.

    >>> print(entry("RUCB", "Find the winner.", {"alpha": 0.51}))
    RUCB(alpha=0.51)
        Find the winner.
    """
    values = ", ".join(
        option if value is inspect.Parameter.empty else f"{option}={_short(value)}" for option, value in options.items()
    )
    return f"{name}({values})\n    {inspect.cleandoc(docstring or '').partition(chr(10))[0]}"


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
