"""Local executors of units: threads if the compiled loop releases the GIL, processes for bandits in plain Python."""

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

__all__ = ["CodeMismatch", "LocalExecutor", "PackedUnit", "Stopped", "UnitExecutor", "pack_unit", "unpack_unit"]

_REPORT_INTERVAL_SECONDS = 0.1  # between two reports of a process about a run

PackedUnit = dict[str, Any]  # a unit without its problem, to send to another process. The problem is sent once


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised inside a run that was cancelled."""


class CodeMismatch(RuntimeError):  # noqa: N818 - named like KeyError
    """A worker has another version of the code, so it could compute other numbers under the same key."""


class UnitExecutor(Protocol):
    """Computes units, and reports the progress of running units to a tracker."""

    max_running: int  # maximum number of units at once

    def submit(self, unit: Unit) -> Future[Run]:
        """Start or queue a unit."""

    def stop(self) -> None:
        """Cancel everything. No unit finishes after this returns."""


class LocalExecutor:
    """`jobs` threads. With several jobs, bandits in plain Python run in the same number of processes."""

    def __init__(self, units: Sequence[Unit], tracker: Tracker, jobs: int) -> None:
        self.max_running = jobs
        self._tracker = tracker
        self._in_processes = {unit for unit in units if jobs > 1 and plays_in_python(unit.bandit)}
        self._threads = ThreadPoolExecutor(jobs)
        self._processes: _ProcessPool | None = None
        self._stopping = threading.Event()

    def submit(self, unit: Unit) -> Future[Run]:
        """Start or queue a unit."""
        if unit not in self._in_processes:
            return self._threads.submit(self._compute, unit)
        if self._processes is None:
            self._processes = _ProcessPool(self._in_processes, self._tracker, self.max_running)
        return self._processes.submit(unit)

    def stop(self) -> None:
        """Cancel everything, within the watch interval of the simulation."""
        self._stopping.set()
        if self._processes is not None:
            self._processes.stop()
        self._threads.shutdown()

    def _compute(self, unit: Unit) -> Run:
        def watch(play: Play | MultiPlay) -> None:
            if self._stopping.is_set():
                raise Stopped
            self._tracker.advance(unit, play.duels)

        self._tracker.begin(unit)
        return unit.play(watch)


class _ProcessPool:
    """Processes, spawned because forking is unsafe with threads. Each process gets all problems when it starts."""

    def __init__(self, units: set[Unit], tracker: Tracker, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._tracker = tracker
        self._units = {unit.key: unit for unit in units}
        self._reports: multiprocessing.Queue[tuple[str, int] | None] = context.Queue()
        self._stopping = context.Event()
        problems = {unit.problem.fingerprint: unit.problem for unit in units}
        self._pool = ProcessPoolExecutor(jobs, context, _init_process, (problems, self._reports, self._stopping))
        self._report_reader = threading.Thread(target=self._read_reports, daemon=True)
        self._report_reader.start()

    def stop(self) -> None:
        self._stopping.set()
        self._pool.shutdown(cancel_futures=True)
        self._reports.put(None)
        self._report_reader.join()
        self._reports.close()

    def submit(self, unit: Unit) -> Future[Run]:
        # Ctrl-C reaches all processes of a terminal. Only this one handles it, so children start with SIGINT blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(_compute, pack_unit(unit), unit.problem.fingerprint, unit.key)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _read_reports(self) -> None:
        while (report := self._reports.get()) is not None:
            key, duels = report
            self._tracker.advance(self._units[key], duels)


def pack_unit(unit: Unit) -> PackedUnit:
    """All fields of a unit except its problem."""
    return {field.name: getattr(unit, field.name) for field in fields(unit) if field.name != "problem"}


def unpack_unit(packed: PackedUnit, problem: Problem, key: str) -> Unit:
    """Rebuild a unit in another process. CodeMismatch if its key differs there."""
    unit = Unit(problem=problem, **packed)
    if unit.key != key:
        raise CodeMismatch(
            f"a worker has another version of rankduel, or of {unit.bandit}: install the same version on all workers"
        )
    return unit


# In a worker process

_problems: dict[str, Problem] = {}
_report: Callable[[str, int], None]
_stopping: Callable[[], bool]


def _init_process(
    problems: dict[str, Problem], reports: "multiprocessing.Queue[tuple[str, int] | None]", stopping: Event
) -> None:
    """Initialise a new process of the pool."""
    global _report, _stopping  # noqa: PLW0603 - a pool offers no other way
    _problems.update(problems)
    _report = lambda key, duels: reports.put((key, duels))  # noqa: E731
    _stopping = stopping.is_set
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent process dies, for whatever reason."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _compute(packed: PackedUnit, fingerprint: str, key: str) -> Run:
    due = 0.0

    def watch(play: Play | MultiPlay) -> None:
        nonlocal due
        if _stopping():
            raise Stopped
        if time.monotonic() >= due:
            due = time.monotonic() + _REPORT_INTERVAL_SECONDS
            _report(key, play.duels)

    unit = unpack_unit(packed, _problems[fingerprint], key)
    _report(key, 0)
    return unit.play(watch)
