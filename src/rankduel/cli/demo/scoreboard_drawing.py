"""Draw the scoreboard in place. Needs rich: import it only if `terminal_console` has found a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rankduel.cli.demo.scoreboard import Score

__all__ = ["draw_scores"]


@contextmanager
def draw_scores(console: Console) -> Iterator[Callable[[Score], None]]:
    """Yield a function that redraws the scoreboard."""
    with Live(console=console, auto_refresh=False) as live:

        def show(score: Score) -> None:
            live.update(_drawing(score), refresh=True)

        yield show


def _drawing(score: Score) -> Table:
    """A bar of the rankers left, and the numbers below it."""
    left = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=score.rankers, completed=score.left, width=40, complete_style="cyan")
    left.add_row(bar, Text(f"{score.left} of {score.rankers}"))
    drawing = Table.grid(padding=(0, 2))
    drawing.add_row(Text("rankers left", style="dim"), left)
    drawing.add_row(Text("duels", style="dim"), Text(f"{score.duels:,} in {score.seconds:.0f} s"))
    drawing.add_row(Text("champion", style="dim"), Text(score.champion, style="bold green"))
    drawing.add_row(Text("effect on users", style="dim"), Text(score.effect))
    return drawing
