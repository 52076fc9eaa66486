"""Detect whether a stream is a terminal that rich can draw on."""

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["terminal_console"]


def terminal_console(stream: TextIO) -> "Console | None":
    """A rich console, or None if the stream is no terminal, cannot move its cursor, or rich is not installed."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console  # noqa: PLC0415 - an optional dependency
    except ImportError:
        return None
    console = Console(file=stream)
    return None if console.is_dumb_terminal else console
