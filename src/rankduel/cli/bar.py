"""The progress of long work as a bar. Needs rich, so import it only where a canvas was found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from rankduel.cli.progress import Moment

__all__ = ["draw_progress"]


@contextmanager
def draw_progress(console: Console) -> Iterator[Callable[[Moment], None]]:
    """What moves a bar."""
    columns = (
        TextColumn("{task.fields[what]}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with Progress(*columns, console=console, expand=True) as bar:
        task = bar.add_task("", total=1.0, what="", pace="")

        def show(moment: Moment) -> None:
            bar.update(task, completed=moment.share, what=moment.what, pace=moment.pace)

        yield show
