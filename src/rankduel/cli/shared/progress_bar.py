"""Progress bar. Needs rich: import it only if `terminal_console` has found a terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from rankduel.cli.shared.progress import ProgressState

__all__ = ["draw_progress"]


class _Bar(Progress):
    """A progress bar with a line below for the running runs, cut at the width of the terminal."""

    running = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.running:
            yield Text(f"running: {self.running}", style="dim", no_wrap=True, overflow="ellipsis")


@contextmanager
def draw_progress(console: Console) -> Iterator[Callable[[ProgressState], None]]:
    """Yield a function that moves the bar."""
    columns = (
        TextColumn("{task.fields[what]}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with _Bar(*columns, console=console, expand=True) as bar:
        task = bar.add_task("", total=1.0, what="", pace="")

        def show(state: ProgressState) -> None:
            bar.running = state.running
            bar.update(task, completed=state.share, what=state.what, pace=state.pace)

        yield show
