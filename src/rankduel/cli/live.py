"""The demo's tournament drawn live. Needs rich, so import it only where a canvas was found."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rankduel.cli.stage import Show, scene_text
from rankduel.lab import Scene

__all__ = ["draw_scenes"]

_FRAME = 0.04  # seconds that a scene is shown: the whole takes about eight


@contextmanager
def draw_scenes(console: Console) -> Iterator[Show]:
    """A watcher that draws a scene and lets it be seen."""
    with Live(console=console, auto_refresh=False) as live:
        due = time.monotonic()

        def show(scene: Scene) -> None:
            nonlocal due
            live.update(_picture(scene), refresh=True)
            due += _FRAME
            time.sleep(max(0.0, due - time.monotonic()))

        yield show


def _picture(scene: Scene) -> RenderableType:
    """A bar of those who are out, a row of blocks for each batch of those who are left, and the figures."""
    out = scene.rankers - scene.left
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(total=scene.rankers - 1, completed=out, width=40), Text(f"{out} of {scene.rankers} are out")
    )
    batches = Table.grid(padding=(0, 1))
    for number, batch in enumerate(scene.batches, start=1):
        blocks = Text()
        for ranker in batch:
            blocks.append("■", style="bold green" if ranker == scene.champion else "blue")
        batches.add_row(Text(f"batch {number}", style="dim"), f"{len(batch):>2}", blocks)
    title = Text(f"MergeDTS finds the best of {scene.rankers} rankers", style="bold")
    return Group(title, bar, Text(), batches, Text(), Text(f"{scene_text(scene)} (green)"))
