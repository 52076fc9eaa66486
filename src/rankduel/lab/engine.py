"""Compute the units of a plan that are missing in the store: in local threads and processes, or on a Dask cluster."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from itertools import islice
from typing import Literal, get_args

from rankduel.lab.executors import LocalExecutor, UnitExecutor
from rankduel.lab.plan import Unit
from rankduel.lab.progress import Progress, Tracker
from rankduel.lab.store import Store
from rankduel.simulation import Run

__all__ = ["Engine", "EngineUnavailable", "execute"]

Engine = Literal["local", "dask"]
_WATCH_INTERVAL_SECONDS = 0.1  # between two calls of `watch`


class EngineUnavailable(RuntimeError):  # noqa: N818 - named like KeyError
    """The engine `dask` was requested, but Dask is not installed."""


def execute(
    units: Sequence[Unit],
    store: Store,
    *,
    jobs: int = 1,
    engine: Engine = "local",
    address: str | None = None,
    watch: Callable[[Progress], object] | None = None,
) -> list[Run]:
    """Return the runs of all units, in the same order. Missing runs are computed, and each is stored as it finishes.

    `engine`: "local" uses `jobs` threads, and the same number of processes for bandits in plain Python. "dask" uses the
    workers of the scheduler at `address`, for example "tcp://10.0.0.1:8786". Both give the same numbers. As always in
    Python, a script that starts processes needs `if __name__ == "__main__":`.

    `watch` is called in the caller's thread: at the start, about ten times a second, and at the end. If it raises, or
    you press Ctrl-C, unfinished runs are cancelled. Finished runs stay in the store.
    """
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be one of {', '.join(get_args(Engine))}, got {engine!r}")
    if (engine == "dask") != (address is not None):
        if address is None:
            raise ValueError("engine='dask' needs the address of a Dask scheduler, such as tcp://10.0.0.1:8786")
        raise ValueError(f"address={address!r} needs engine='dask', got engine={engine!r}")
    plan = {unit.key: unit for unit in units}
    tracker = Tracker(list(plan.values()), jobs)
    runs: dict[str, Run] = {}
    for key, unit in plan.items():
        if (run := store.read(unit)) is not None:
            runs[key] = run
            tracker.reuse(unit, run)
    missing = [unit for key, unit in plan.items() if key not in runs]
    computing: dict[Future[Run], Unit] = {}

    def store_result(future: Future[Run]) -> None:
        try:
            run = future.result()
        except CancelledError as error:
            raise ConnectionError(
                f"lost the connection to the scheduler at {address} while {computing[future].label} was running; "
                "check that it is up, then start again: finished runs are stored"
            ) from error
        unit = computing.pop(future)
        store.write(unit, run)
        tracker.finish(unit, run)
        runs[unit.key] = run

    def report() -> None:
        if watch is not None:
            watch(tracker.report())

    report()
    if missing:
        waiting = iter(missing)
        executor = _unit_executor(missing, tracker, jobs, address)
        try:
            while len(runs) < len(plan):
                for unit in islice(waiting, executor.max_running - len(computing)):
                    computing[executor.submit(unit)] = unit
                for future in wait(computing, _WATCH_INTERVAL_SECONDS, FIRST_COMPLETED).done:
                    store_result(future)
                report()
        finally:
            executor.stop()
            for future in [each for each in computing if each.done() and not each.cancelled()]:
                if future.exception() is None:  # it finished while the others were being stopped
                    store_result(future)
    return [runs[unit.key] for unit in units]


def _unit_executor(units: Sequence[Unit], tracker: Tracker, jobs: int, address: str | None) -> UnitExecutor:
    if address is None:
        return LocalExecutor(units, tracker, jobs)
    try:
        from rankduel.lab.dask_engine import DaskExecutor  # noqa: PLC0415 - it needs an extra
    except ImportError as error:
        raise EngineUnavailable(f"engine dask needs dask: pip install 'rankduel[dask]' ({error})") from error
    return DaskExecutor(units, tracker, address)
