"""The progress of a plan on stderr: a bar on a terminal, else a line every few seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rankduel.cli.numbers import count, duration
from rankduel.cli.terminal import canvas
from rankduel.lab import Progress

__all__ = ["Show", "runs_text", "show_progress", "speed_text", "time_text"]

_LINE_EVERY = 2.0  # seconds

Show = Callable[[Progress], None]


@contextmanager
def show_progress() -> Iterator[Show]:
    """A watcher for `lab.execute`."""
    console = canvas(sys.stderr)
    if console is None:
        yield _lines()
    else:
        from rankduel.cli.bar import draw_progress  # noqa: PLC0415 - rich is there

        with draw_progress(console) as show:
            yield show


def _lines() -> Show:
    due = time.monotonic() + _LINE_EVERY

    def show(progress: Progress) -> None:
        nonlocal due
        if time.monotonic() >= due or progress.done == progress.total:
            due = time.monotonic() + _LINE_EVERY
            texts = runs_text(progress), speed_text(progress), time_text(progress)
            print(", ".join(texts), file=sys.stderr, flush=True)

    return show


def runs_text(progress: Progress) -> str:
    """How many runs are done."""
    kept = f" ({progress.kept} kept)" if progress.kept else ""
    return f"{progress.done} of {progress.total} runs{kept}"


def speed_text(progress: Progress) -> str:
    """How many duels, and how fast."""
    return f"{count(progress.duels)} duels, {count(progress.rate)}/s"


def time_text(progress: Progress) -> str:
    """How long it will take, or took."""
    if progress.done == progress.total:
        return f"done in {duration(progress.seconds)}"
    return "time left unknown" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
