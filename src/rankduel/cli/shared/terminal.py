"""Find out whether a stream is a terminal that rich can draw on."""

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["terminal_console"]


def terminal_console(stream: TextIO) -> "Console | None":
    """A rich console, if the stream is a terminal that can move its cursor and rich is installed; else None."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console  # noqa: PLC0415 - not of the core
    except ImportError:
        return None
    console = Console(file=stream)
    return None if console.is_dumb_terminal else console
