"""Progress of a plan in runs and duels. The time left is estimated from runs of the same kind."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rankduel.lab.plan import Unit
from rankduel.simulation import Delay, Run

__all__ = ["Progress", "Tracker"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a running plan."""

    total: int  # runs
    reused: int  # runs from the store
    done: int  # finished runs, including reused ones
    share: float  # of the whole plan, from 0 to 1; a run that is half done counts half
    duels: int  # duels computed since the start
    seconds: float  # elapsed time
    seconds_left: float | None  # None until every kind of run has shown how long it takes
    running: tuple[str, ...] = ()  # labels of the running units

    @property
    def rate(self) -> float:
        """Duels per second."""
        return self.duels / self.seconds if self.seconds > 0 else 0.0


_Kind = tuple[str, str, int, Delay | None]  # units of one kind take about the same time


def _kind(unit: Unit) -> _Kind:
    return unit.problem.fingerprint, unit.bandit, unit.horizon, unit.delay


@dataclass(slots=True)
class _Cost:
    """Cost of one run."""

    seconds: float
    duels: int


@dataclass(slots=True)
class _Spent:
    """Total cost of the finished runs of one kind."""

    runs: int = 0
    seconds: float = 0.0
    duels: int = 0

    def add(self, seconds: float, duels: int) -> None:
        self.runs += 1
        self.seconds += seconds
        self.duels += duels


@dataclass(slots=True)
class _Running:
    """A running unit: its start time, its duels so far, and the time of its last report."""

    began: float
    duels: int
    reported: float


class Tracker:
    """Tracks waiting, running and finished units. Threads of the engine update it. Call `report` at any time."""

    def __init__(self, units: Sequence[Unit], jobs: int) -> None:
        self.jobs = jobs  # number of units that run at once
        self._total = len(units)
        self._waiting = Counter(map(_kind, units))
        self._under_way: dict[Unit, _Running] = {}
        self._finished: set[Unit] = set()
        self._known: dict[_Kind, _Spent] = defaultdict(_Spent)  # cost of finished runs
        self._reused = self._done = self._duels = 0
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    def reuse(self, unit: Unit, run: Run) -> None:
        """Record that the store has the run of a unit."""
        with self._lock:
            self._reused += 1
            self._done += 1
            self._waiting[_kind(unit)] -= 1
            self._known[_kind(unit)].add(run.cpu_seconds, run.computed)

    def begin(self, unit: Unit) -> None:
        """Record that a unit has started."""
        with self._lock:
            self._begin(unit)

    def advance(self, unit: Unit, duels: int) -> None:
        """Record the duels of a running unit. Reports may come late, or from a worker that restarts the unit."""
        with self._lock:
            if unit not in self._finished:
                if unit not in self._under_way:
                    self._begin(unit)
                running = self._under_way[unit]
                if duels > running.duels:
                    running.duels, running.reported = duels, time.perf_counter()

    def finish(self, unit: Unit, run: Run) -> None:
        """Record that a unit is finished and stored."""
        with self._lock:
            self._finished.add(unit)
            seconds = run.cpu_seconds  # used if the start was not reported
            if unit in self._under_way:
                seconds = time.perf_counter() - self._under_way.pop(unit).began
            else:
                self._waiting[_kind(unit)] -= 1
            self._done += 1
            self._duels += run.computed
            self._known[_kind(unit)].add(seconds, run.computed)

    def _begin(self, unit: Unit) -> None:
        self._waiting[_kind(unit)] -= 1
        now = time.perf_counter()
        self._under_way[unit] = _Running(now, 0, now)

    def report(self) -> Progress:
        """Return the current progress."""
        with self._lock:
            now = time.perf_counter()
            costs = {kind: self._cost(kind) for kind in self._waiting}
            parts = {unit: _part(running, costs[_kind(unit)]) for unit, running in self._under_way.items()}
            return Progress(
                total=self._total,
                reused=self._reused,
                done=self._done,
                share=(self._done + sum(parts.values())) / max(1, self._total),
                duels=self._duels + sum(running.duels for running in self._under_way.values()),
                seconds=now - self._began,
                seconds_left=self._seconds_left(costs, parts),
                running=tuple(unit.label for unit in self._under_way),
            )

    def _cost(self, kind: _Kind) -> _Cost | None:
        """The cost of a run of this kind: the mean of finished runs, or a running one extrapolated to its horizon."""
        known = self._known[kind]
        if known.runs:
            return _Cost(known.seconds / known.runs, round(known.duels / known.runs))
        for unit, running in self._under_way.items():
            if _kind(unit) == kind and running.duels:
                return _Cost((running.reported - running.began) * unit.horizon / running.duels, unit.horizon)
        return None

    def _seconds_left(self, costs: dict[_Kind, _Cost | None], parts: dict[Unit, float]) -> float | None:
        left = {kind: float(count) for kind, count in self._waiting.items()}  # in runs
        for unit, part in parts.items():
            left[_kind(unit)] += 1 - part
        seconds = 0.0
        for kind, runs in left.items():
            cost = costs[kind]
            if runs and cost is None:
                return None
            seconds += runs * cost.seconds if cost else 0.0
        return seconds / max(1, min(self.jobs, self._total - self._done))


def _part(running: _Running, whole: _Cost | None) -> float:
    """The finished share of a unit, from 0 to 1."""
    return min(1.0, running.duels / max(1, whole.duels)) if whole else 0.0
