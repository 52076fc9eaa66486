"""Who computes the units on this machine: threads, where the compiled loop releases the GIL, else processes."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from typing import Any, Protocol

from rankduel.bandits import plays_in_python
from rankduel.lab.plan import Unit
from rankduel.lab.progress import Tracker
from rankduel.simulation import MultiPlay, Play, Problem, Run

__all__ = ["Crew", "LocalCrew", "OtherCode", "Order", "Stopped", "order", "unit_of"]

_NEWS = 0.1  # seconds between two words of a process about a run

Order = dict[str, Any]  # a unit on its way to another process: all of it but the problem, which is sent once


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """Ends a run that nobody waits for any more."""


class OtherCode(RuntimeError):  # noqa: N818 - it names what is wrong
    """Another process has another version of the code, and would compute something else under the same key."""


class Crew(Protocol):
    """Takes units and computes them. What it knows of those under way it tells to a tracker."""

    places: int  # how many units it takes at once

    def submit(self, unit: Unit) -> Future[Run]:
        """Take a unit."""

    def stop(self) -> None:
        """End everything, and give up what is under way. Nothing is finished any more when this returns."""


class LocalCrew:
    """`jobs` threads; and as many processes for the bandits whose rules are in Python, if there are several jobs."""

    def __init__(self, units: Sequence[Unit], tracker: Tracker, jobs: int) -> None:
        self.places = jobs
        self._tracker = tracker
        self._in_processes = {unit for unit in units if jobs > 1 and plays_in_python(unit.bandit)}
        self._threads = ThreadPoolExecutor(jobs)
        self._processes: _Processes | None = None
        self._stopping = threading.Event()

    def submit(self, unit: Unit) -> Future[Run]:
        """Take a unit."""
        if unit not in self._in_processes:
            return self._threads.submit(self._compute, unit)
        if self._processes is None:
            self._processes = _Processes(self._in_processes, self._tracker, self.places)
        return self._processes.submit(unit)

    def stop(self) -> None:
        """Within a pulse of the simulation."""
        self._stopping.set()
        if self._processes is not None:
            self._processes.stop()
        self._threads.shutdown()

    def _compute(self, unit: Unit) -> Run:
        def look(play: Play | MultiPlay) -> None:
            if self._stopping.is_set():
                raise Stopped
            self._tracker.advance(unit, play.duels)

        self._tracker.begin(unit)
        return unit.play(look)


class _Processes:
    """Fresh processes, so that threads of this one do no harm. Each gets every problem once, when it starts."""

    def __init__(self, units: set[Unit], tracker: Tracker, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._tracker = tracker
        self._units = {unit.key: unit for unit in units}
        self._news: multiprocessing.Queue[tuple[str, int] | None] = context.Queue()
        self._stopping = context.Event()
        problems = {unit.problem.fingerprint: unit.problem for unit in units}
        self._pool = ProcessPoolExecutor(jobs, context, _settle, (problems, self._news, self._stopping))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def stop(self) -> None:
        self._stopping.set()
        self._pool.shutdown(cancel_futures=True)
        self._news.put(None)
        self._listener.join()
        self._news.close()

    def submit(self, unit: Unit) -> Future[Run]:
        # Ctrl-C reaches all processes of a terminal, and is ours to answer: the others, which start here, never see it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(_compute, order(unit), unit.problem.fingerprint, unit.key)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _listen(self) -> None:
        while (news := self._news.get()) is not None:
            key, duels = news
            self._tracker.advance(self._units[key], duels)


def order(unit: Unit) -> Order:
    """All of a unit but its problem."""
    return {field.name: getattr(unit, field.name) for field in fields(unit) if field.name != "problem"}


def unit_of(order: Order, problem: Problem, key: str) -> Unit:
    """The unit again, in another process; refused if it is not the same there."""
    unit = Unit(problem=problem, **order)
    if unit.key != key:
        raise OtherCode(
            f"another process has another version of rankduel, or of {unit.bandit}: install the same everywhere"
        )
    return unit


# In a process

_problems: dict[str, Problem] = {}
_tell: Callable[[str, int], None]
_stopping: Callable[[], bool]


def _settle(
    problems: dict[str, Problem], news: "multiprocessing.Queue[tuple[str, int] | None]", stopping: Event
) -> None:
    """What a new process does first."""
    global _tell, _stopping  # noqa: PLW0603 - there is no other way into a process of a pool
    _problems.update(problems)
    _tell = lambda key, duels: news.put((key, duels))  # noqa: E731
    _stopping = stopping.is_set
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process that nobody waits for should not go on, whatever became of its parent."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _compute(order: Order, fingerprint: str, key: str) -> Run:
    due = 0.0

    def look(play: Play | MultiPlay) -> None:
        nonlocal due
        if _stopping():
            raise Stopped
        if time.monotonic() >= due:
            due = time.monotonic() + _NEWS
            _tell(key, play.duels)

    unit = unit_of(order, _problems[fingerprint], key)
    _tell(key, 0)
    return unit.play(look)
