"""Executor of units on a Dask cluster. Each unit is a task. Its run returns to this process, which stores it.

It needs the extra `dask`, so import it only if the user asks for it.

A problem is sent to the cluster once, as a task of its own, and workers copy it from each other. If a worker dies, the
scheduler computes the problem again where needed and gives the worker's units to others.
"""

import pickle
import secrets
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import dask
from distributed import Client, get_worker

from rankduel.lab.executors import PackedUnit, Stopped, pack_unit, unpack_unit
from rankduel.lab.plan import Unit
from rankduel.lab.progress import Tracker
from rankduel.simulation import MultiPlay, Play, Problem, Run

__all__ = ["DaskExecutor"]

_REPORT_INTERVAL_SECONDS = 1.0  # between two reports of a worker about a run
_CONNECT_TIMEOUT = "20s"  # for a scheduler that does not answer


class DaskExecutor:
    """All workers of the scheduler at an address, including those that join later."""

    max_running = sys.maxsize  # the scheduler keeps the queue

    def __init__(self, units: Sequence[Unit], tracker: Tracker, address: str) -> None:
        self._tracker = tracker
        self._units = {unit.key: unit for unit in units}
        self._name = f"rankduel-{secrets.token_hex(8)}"  # unique, so that plans do not share tasks
        self._client = Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
        self._client.subscribe_topic(self._name, self._on_report)
        tracker.jobs = sum(self._client.ncores().values())
        self._executor = self._client.get_executor()
        self._problems: dict[str, Any] = {}
        self._futures: list[Future[Run]] = []

    def submit(self, unit: Unit) -> Future[Run]:
        """Start or queue a unit."""
        problem = self._problem(unit.problem)
        name = f"{self._name}-{unit.key}"
        future: Future[Run] = self._executor.submit(_compute, pack_unit(unit), problem, unit.key, self._name, key=name)
        self._futures.append(future)
        return future

    def stop(self) -> None:
        """Cancel everything. Workers stop within the watch interval of the simulation."""
        for future in self._futures:
            future.cancel()
        self._client.close()

    def _problem(self, problem: Problem) -> Any:
        """The problem on the cluster."""
        if problem.fingerprint not in self._problems:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):  # it is sent only once
                self._problems[problem.fingerprint] = self._client.submit(
                    pickle.loads, pickle.dumps(problem), key=f"{self._name}-{problem.fingerprint}"
                )
        return self._problems[problem.fingerprint]

    def _on_report(self, event: tuple[float, tuple[str, int]]) -> None:
        key, duels = event[1]
        self._tracker.advance(self._units[key], duels)


# On a worker


def _compute(packed: PackedUnit, problem: Problem, key: str, topic: str) -> Run:
    worker = get_worker()
    task = worker.get_current_task()
    due = 0.0

    def watch(play: Play | MultiPlay) -> None:
        nonlocal due
        known = worker.state.tasks.get(task)
        if known is None or known.state == "cancelled":  # the result is no longer needed
            raise Stopped
        if time.monotonic() >= due:
            due = time.monotonic() + _REPORT_INTERVAL_SECONDS
            worker.log_event(topic, [key, play.duels])

    unit = unpack_unit(packed, problem, key)
    worker.log_event(topic, [key, 0])
    return unit.play(watch)
