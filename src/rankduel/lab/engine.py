"""Compute the units of a plan that are not in the store, in threads: the compiled loop releases the GIL."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from rankduel.lab.plan import Unit
from rankduel.lab.progress import Progress, Tracker
from rankduel.lab.store import Store
from rankduel.simulation import MultiPlay, Play, Run

__all__ = ["execute"]

_PULSE = 0.1  # seconds between two calls of the watcher


class _Stopped(Exception):  # noqa: N818 - nothing is wrong
    """Ends a run that nobody waits for any more."""


def execute(
    units: Sequence[Unit],
    store: Store,
    *,
    jobs: int = 1,
    watch: Callable[[Progress], object] | None = None,
) -> list[Run]:
    """The runs of all units, in their order: read from the store where they are, else computed and stored at once.

    `watch` is called in the caller's thread, at the start, about ten times a second and at the end. When it raises, or
    the user presses Ctrl-C, the runs under way are given up, and what is finished stays in the store.
    """
    plan = {unit.key: unit for unit in units}
    tracker = Tracker(list(plan.values()), jobs)
    runs: dict[str, Run] = {}
    for key, unit in plan.items():
        if (run := store.read(unit)) is not None:
            runs[key] = run
            tracker.keep(unit, run)
    stop = threading.Event()

    def compute(unit: Unit) -> Run:
        def look(play: Play | MultiPlay) -> None:
            if stop.is_set():
                raise _Stopped
            tracker.advance(unit, play.duels)

        tracker.begin(unit)
        run = unit.play(look)
        store.write(unit, run)
        tracker.finish(unit, run)
        return run

    def tell() -> None:
        if watch is not None:
            watch(tracker.look())

    tell()
    waiting = iter([unit for key, unit in plan.items() if key not in runs])
    computing: dict[Future[Run], Unit] = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while len(runs) < len(plan):
                for unit in islice(waiting, jobs - len(computing)):
                    computing[pool.submit(compute, unit)] = unit
                for future in wait(computing, _PULSE, FIRST_COMPLETED).done:
                    runs[computing.pop(future).key] = future.result()
                tell()
        finally:
            stop.set()
    return [runs[unit.key] for unit in units]
