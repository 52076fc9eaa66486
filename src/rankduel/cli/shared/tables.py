"""Plain-text tables and dates."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

__all__ = ["date", "table"]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a table; numbers are right-aligned.

    >>> print(table(("name", "duels"), [("home", 1200), ("s", 7)]), end="")
    name  duels
    home  1,200
    s         7
    """
    cells = [[_cell(value) for value in row] for row in rows]
    numbers = [all(right for _, right in column) and bool(cells) for column in zip(*cells, strict=True)] or [
        False
    ] * len(head)
    lines = [list(head), *([text for text, _ in row] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numbers, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def _cell(value: object) -> tuple[str, bool]:
    """The text of a cell, and whether it is a number."""
    if isinstance(value, float):
        return f"{value:.3f}", True
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}", True
    return str(value), False


def date(seconds: float) -> str:
    """Format seconds since 1970 as a UTC date.

    >>> date(0)
    '1970-01-01 00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
