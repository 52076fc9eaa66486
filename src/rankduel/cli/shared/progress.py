"""The progress of long work on stderr: a bar on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rankduel.cli.shared.numbers import count, duration
from rankduel.cli.shared.terminal import canvas
from rankduel.lab import Progress

__all__ = ["Moment", "parts_of", "runs_of", "show_progress"]

_LINE_EVERY = 2.0  # seconds, at first
_LINE_SHARE = 0.05  # later, of the time so far: hours of work have some hundred lines


@dataclass(frozen=True, slots=True)
class Moment:
    """How far the work is, and that in words."""

    share: float  # from 0 to 1
    what: str  # how much of what is done
    pace: str  # how fast, and how long it will take
    done: bool
    running: str = ""  # what is under way


@contextmanager
def show_progress() -> Iterator[Callable[[Moment], None]]:
    """What shows one moment after the other."""
    console = canvas(sys.stderr)
    if console is None:
        yield _lines()
    else:
        from rankduel.cli.shared.progress_bar import draw_progress  # noqa: PLC0415 - rich is there

        with draw_progress(console) as show:
            yield show


def _lines() -> Callable[[Moment], None]:
    began = time.monotonic()
    due = began + _LINE_EVERY

    def show(moment: Moment) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due or moment.done:
            due = now + max(_LINE_EVERY, _LINE_SHARE * (now - began))
            running = f"; running: {moment.running}" if moment.running else ""
            print(f"{moment.what}, {moment.pace}{running}", file=sys.stderr, flush=True)

    return show


def runs_of(progress: Progress) -> Moment:
    """The runs of an experiment."""
    kept = f" ({progress.reused} kept)" if progress.reused else ""
    return _moment(progress, f"{progress.done} of {progress.total} runs{kept}", ", ".join(progress.running))


def parts_of(progress: Progress) -> Moment:
    """The parts of an estimate."""
    kept = f" ({progress.reused} parts kept)" if progress.reused else ""
    return _moment(progress, f"{100 * progress.share:.1f} %{kept}")


def _moment(progress: Progress, what: str, running: str = "") -> Moment:
    done = progress.done == progress.total
    if done:
        left = f"done in {duration(progress.seconds)}"
    else:
        left = "time left unknown" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
    pace = f"{count(progress.duels)} duels, {count(progress.rate)}/s, {left}"
    return Moment(progress.share, what, pace, done, running)
