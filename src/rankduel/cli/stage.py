"""The demo's tournament on stdout: live on a terminal, else in about ten lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rankduel.cli.terminal import canvas
from rankduel.lab import Scene

__all__ = ["Show", "scene_text", "show_scenes"]

_LINE_EVERY = 20  # scenes

Show = Callable[[Scene], None]


@contextmanager
def show_scenes() -> Iterator[Show]:
    """A watcher for `lab.play_showcase`."""
    console = canvas(sys.stdout)
    if console is None:
        yield _line
    else:
        from rankduel.cli.live import draw_scenes  # noqa: PLC0415 - rich is there

        with draw_scenes(console) as show:
            yield show


def _line(scene: Scene) -> None:
    if scene.number % _LINE_EVERY == 0 or scene.finished:
        sizes = " ".join(str(len(batch)) for batch in scene.batches)
        print(f"{scene_text(scene)}, batches of {sizes}", flush=True)


def scene_text(scene: Scene) -> str:
    """The figures of a scene."""
    return (
        f"{scene.duels:>9,} duels: {scene.left:>3} left, regret {scene.regret_per_1000:4.1f} per 1,000 duels, "
        f"champion {scene.champion}"
    )
