"""How far a plan is, in runs and duels; the time left is judged from runs of the same kind."""

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
    """One look at a plan under way."""

    total: int  # runs
    kept: int  # runs that were finished before
    done: int  # finished runs, the kept ones included
    share: float  # of the whole, from 0 to 1; a run half-way counts half
    duels: int  # computed since the start
    seconds: float  # since the start
    seconds_left: float | None  # None while some kind of run has not shown how long it takes
    running: tuple[str, ...] = ()  # what is under way, in short

    @property
    def rate(self) -> float:
        """Duels per second."""
        return self.duels / self.seconds if self.seconds > 0 else 0.0


_Kind = tuple[str, str, int, Delay | None]  # units of one kind take about the same time


def _kind(unit: Unit) -> _Kind:
    return unit.problem.fingerprint, unit.bandit, unit.horizon, unit.delay


@dataclass(slots=True)
class _Cost:
    """Of one run."""

    seconds: float
    duels: int


@dataclass(slots=True)
class _Spent:
    """By the finished runs of a kind."""

    runs: int = 0
    seconds: float = 0.0
    duels: int = 0

    def add(self, seconds: float, duels: int) -> None:
        self.runs += 1
        self.seconds += seconds
        self.duels += duels


@dataclass(slots=True)
class _Flight:
    """A run under way: the clock when it began, how far it is, and the clock when it said so."""

    began: float
    duels: int
    told: float


class Tracker:
    """Which units wait, are under way or done. The engine's threads write it, `look` may be called at any time."""

    def __init__(self, units: Sequence[Unit], jobs: int) -> None:
        self.jobs = jobs  # how many units are under way at once
        self._total = len(units)
        self._waiting = Counter(map(_kind, units))
        self._under_way: dict[Unit, _Flight] = {}
        self._finished: set[Unit] = set()
        self._known: dict[_Kind, _Spent] = defaultdict(_Spent)  # what finished runs took
        self._kept = self._done = self._duels = 0
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    def keep(self, unit: Unit, run: Run) -> None:
        """The unit was finished before."""
        with self._lock:
            self._kept += 1
            self._done += 1
            self._waiting[_kind(unit)] -= 1
            self._known[_kind(unit)].add(run.cpu_seconds, run.computed)

    def begin(self, unit: Unit) -> None:
        """Somebody took the unit up."""
        with self._lock:
            self._begin(unit)

    def advance(self, unit: Unit, duels: int) -> None:
        """The unit has come so far. Word of it may come late, or from somebody who begins it again."""
        with self._lock:
            if unit not in self._finished:
                if unit not in self._under_way:
                    self._begin(unit)
                flight = self._under_way[unit]
                if duels > flight.duels:
                    flight.duels, flight.told = duels, time.perf_counter()

    def finish(self, unit: Unit, run: Run) -> None:
        """The unit is done and stored."""
        with self._lock:
            self._finished.add(unit)
            seconds = run.cpu_seconds  # where nobody said when it began
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
        self._under_way[unit] = _Flight(now, 0, now)

    def look(self) -> Progress:
        """The state of things."""
        with self._lock:
            now = time.perf_counter()
            costs = {kind: self._cost(kind) for kind in self._waiting}
            parts = {unit: _part(flight, costs[_kind(unit)]) for unit, flight in self._under_way.items()}
            return Progress(
                total=self._total,
                kept=self._kept,
                done=self._done,
                share=(self._done + sum(parts.values())) / max(1, self._total),
                duels=self._duels + sum(flight.duels for flight in self._under_way.values()),
                seconds=now - self._began,
                seconds_left=self._seconds_left(costs, parts),
                running=tuple(unit.label for unit in self._under_way),
            )

    def _cost(self, kind: _Kind) -> _Cost | None:
        """What a run of this kind takes: as finished ones did, or as one under way would if it never converged."""
        known = self._known[kind]
        if known.runs:
            return _Cost(known.seconds / known.runs, round(known.duels / known.runs))
        for unit, flight in self._under_way.items():
            if _kind(unit) == kind and flight.duels:
                return _Cost((flight.told - flight.began) * unit.horizon / flight.duels, unit.horizon)
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


def _part(flight: _Flight, whole: _Cost | None) -> float:
    """How much of a unit is done, from 0 to 1."""
    return min(1.0, flight.duels / max(1, whole.duels)) if whole else 0.0
