"""How far a plan is, in runs and duels; the time left is judged from runs of the same bandit."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rankduel.lab.plan import Unit
from rankduel.simulation import Run

__all__ = ["Progress", "Tracker", "computed_duels"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at a plan under way."""

    total: int  # runs
    kept: int  # runs that were finished before
    done: int  # finished runs, the kept ones included
    share: float  # of the whole, from 0 to 1; a run half-way counts half
    duels: int  # computed since the start
    seconds: float  # since the start
    seconds_left: float | None  # None while some bandit has not shown how long it takes

    @property
    def rate(self) -> float:
        """Duels per second."""
        return self.duels / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class _Cost:
    """Of one run."""

    seconds: float
    duels: int


class Tracker:
    """Which units wait, are under way or done. The engine's threads write it, `look` may be called at any time."""

    def __init__(self, units: Sequence[Unit], jobs: int) -> None:
        self._jobs = jobs
        self._total = len(units)
        self._waiting = Counter(unit.bandit for unit in units)
        self._under_way: dict[Unit, _Cost] = {}  # `seconds`: of the clock, when it began
        self._known: dict[str, list[_Cost]] = defaultdict(list)  # what finished runs of a bandit took
        self._kept = self._done = self._duels = 0
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    def keep(self, unit: Unit, run: Run) -> None:
        """The unit was finished before."""
        with self._lock:
            self._kept += 1
            self._done += 1
            self._waiting[unit.bandit] -= 1
            self._known[unit.bandit].append(_Cost(run.cpu_seconds, computed_duels(run)))

    def begin(self, unit: Unit) -> None:
        """A thread took the unit up."""
        with self._lock:
            self._waiting[unit.bandit] -= 1
            self._under_way[unit] = _Cost(time.perf_counter(), 0)

    def advance(self, unit: Unit, duels: int) -> None:
        """The unit has come so far."""
        self._under_way[unit].duels = duels

    def finish(self, unit: Unit, run: Run) -> None:
        """The unit is done and stored."""
        with self._lock:
            began = self._under_way.pop(unit).seconds
            self._done += 1
            self._duels += computed_duels(run)
            self._known[unit.bandit].append(_Cost(time.perf_counter() - began, computed_duels(run)))

    def look(self) -> Progress:
        """The state of things."""
        with self._lock:
            now = time.perf_counter()
            costs = {bandit: self._cost(bandit, now) for bandit in self._waiting}
            parts = {unit: _part(flight, costs[unit.bandit]) for unit, flight in self._under_way.items()}
            return Progress(
                total=self._total,
                kept=self._kept,
                done=self._done,
                share=(self._done + sum(parts.values())) / max(1, self._total),
                duels=self._duels + sum(flight.duels for flight in self._under_way.values()),
                seconds=now - self._began,
                seconds_left=self._seconds_left(costs, parts),
            )

    def _cost(self, bandit: str, now: float) -> _Cost | None:
        """What a run of this bandit takes: as finished ones did, or as one under way would if it never converged."""
        if known := self._known[bandit]:
            return _Cost(fmean(cost.seconds for cost in known), round(fmean(cost.duels for cost in known)))
        for unit, flight in self._under_way.items():
            if unit.bandit == bandit and flight.duels:
                return _Cost((now - flight.seconds) * unit.horizon / flight.duels, unit.horizon)
        return None

    def _seconds_left(self, costs: dict[str, _Cost | None], parts: dict[Unit, float]) -> float | None:
        left = {bandit: float(count) for bandit, count in self._waiting.items()}  # in runs
        for unit, part in parts.items():
            left[unit.bandit] += 1 - part
        seconds = 0.0
        for bandit, runs in left.items():
            cost = costs[bandit]
            if runs and cost is None:
                return None
            seconds += runs * cost.seconds if cost else 0.0
        return seconds / max(1, min(self._jobs, self._total - self._done))


def _part(flight: _Cost, whole: _Cost | None) -> float:
    """How much of a unit is done, from 0 to 1."""
    return min(1.0, flight.duels / max(1, whole.duels)) if whole else 0.0


def computed_duels(run: Run) -> int:
    """The duels that had to be computed: up to convergence."""
    return run.duels if run.converged_at is None else run.converged_at
