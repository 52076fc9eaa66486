"""The progress of a plan as a bar. Needs rich, so import it only where a canvas was found."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar

from rankduel.cli.progress import Show, runs_text, speed_text, time_text
from rankduel.lab import Progress

__all__ = ["draw_progress"]


@contextmanager
def draw_progress(console: Console) -> Iterator[Show]:
    """A watcher that moves a bar."""
    columns = (
        TextColumn("{task.fields[runs]}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TextColumn("{task.fields[time]}"),
    )
    with Bar(*columns, console=console, expand=True) as bar:
        task = bar.add_task("", total=1.0, runs="", speed="", time="")

        def show(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.share,
                runs=runs_text(progress),
                speed=speed_text(progress),
                time=time_text(progress),
            )

        yield show
