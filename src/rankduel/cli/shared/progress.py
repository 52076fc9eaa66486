"""Show progress on stderr: a bar on a terminal, else a line every few seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rankduel.cli.shared.numbers import count, duration
from rankduel.cli.shared.terminal import terminal_console
from rankduel.lab import Progress

__all__ = ["ProgressState", "describe_parts", "describe_runs", "show_progress"]

_LINE_INTERVAL_SECONDS = 2.0  # at first
_LINE_INTERVAL_SHARE = 0.05  # later, of the elapsed time: a run of hours prints some hundred lines


@dataclass(frozen=True, slots=True)
class ProgressState:
    """Progress as a share and in words."""

    share: float  # from 0 to 1
    what: str  # "3 of 10 runs"
    pace: str  # how fast, and how long it will take
    done: bool
    running: str = ""  # runs that are being computed


@contextmanager
def show_progress() -> Iterator[Callable[[ProgressState], None]]:
    """Yield a function that shows the progress."""
    console = terminal_console(sys.stderr)
    if console is None:
        yield _lines()
    else:
        from rankduel.cli.shared.progress_bar import draw_progress  # noqa: PLC0415 - rich is installed

        with draw_progress(console) as show:
            yield show


def _lines() -> Callable[[ProgressState], None]:
    began = time.monotonic()
    due = began + _LINE_INTERVAL_SECONDS

    def show(state: ProgressState) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due or state.done:
            due = now + max(_LINE_INTERVAL_SECONDS, _LINE_INTERVAL_SHARE * (now - began))
            running = f"; running: {state.running}" if state.running else ""
            print(f"{state.what}, {state.pace}{running}", file=sys.stderr, flush=True)

    return show


def describe_runs(progress: Progress) -> ProgressState:
    """Progress of an experiment, in runs."""
    reused = f" ({progress.reused} reused)" if progress.reused else ""
    return _describe(progress, f"{progress.done} of {progress.total} runs{reused}", ", ".join(progress.running))


def describe_parts(progress: Progress) -> ProgressState:
    """Progress of an estimate, in parts."""
    reused = f" ({progress.reused} parts reused)" if progress.reused else ""
    return _describe(progress, f"{100 * progress.share:.1f} %{reused}")


def _describe(progress: Progress, what: str, running: str = "") -> ProgressState:
    done = progress.done == progress.total
    if done:
        left = f"done in {duration(progress.seconds)}"
    else:
        left = "time left unknown" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
    pace = f"{count(progress.duels)} duels, {count(progress.rate)}/s, {left}"
    return ProgressState(progress.share, what, pace, done, running)
