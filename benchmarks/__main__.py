"""Measure bandits, interleaving, datasets, live tournaments and the service. See the options for single benchmarks."""

import argparse
from collections.abc import Sequence

import rankduel as rd
from benchmarks import (
    forecast,
    impressions,
    instructions,
    live,
    loading,
    metrics,
    multileaving,
    postgres,
    running_time,
    service,
    sizes,
    speed,
    start,
)


def parser() -> argparse.ArgumentParser:
    """Declare the options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="run each benchmark for a moment, to check that it works")
    options.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each bandit (default: 5)")
    options.add_argument(
        "--bandit",
        action="append",
        default=[],
        choices=list(rd.REGISTRY),
        metavar="NAME",
        help="only CPU time per duel of this bandit (repeatable)",
    )
    options.add_argument(
        "--instructions",
        action="store_true",
        help="only instructions per duel, counted by callgrind and compared with the recorded counts",
    )
    options.add_argument("--record", action="store_true", help="with --instructions: record the new counts")
    options.add_argument(
        "--loading", type=float, metavar="FRACTION", help="only load a LETOR file, this fraction of MSLR-WEB30K in size"
    )
    options.add_argument("--forecast", action="store_true", help="only how often forecasts of the dashboard held")
    options.add_argument("--live", action="store_true", help="only a live tournament on SQLite")
    options.add_argument(
        "--endurance",
        type=int,
        metavar="DUELS",
        help="only memory and opening time of a live tournament",
    )
    options.add_argument("--service", action="store_true", help="only the HTTP service")
    options.add_argument("--metrics", action="store_true", help="only the metrics of the HTTP service")
    options.add_argument(
        "--sizes", action="store_true", help="only bytes per duel; with --postgres, in this database, which is emptied"
    )
    options.add_argument("--postgres", metavar="URL", help="only live tournaments in this PostgreSQL database")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the selected benchmarks."""
    asked = parser().parse_args(arguments)
    if asked.instructions:
        instructions.report(only=asked.bandit, record=asked.record, quick=asked.quick)
        return
    if asked.loading is not None:
        loading.report(fraction=asked.loading, quick=asked.quick)
        return
    if asked.endurance is not None:
        live.endurance(asked.endurance)
        return
    reports = (
        (forecast.report, asked.forecast),
        (live.report, asked.live),
        (service.report, asked.service),
        (metrics.report, asked.metrics),
    )
    for report, chosen in reports:
        if chosen:
            report(quick=asked.quick)
            return
    if asked.sizes or asked.postgres is not None:
        if asked.sizes:
            sizes.report(asked.postgres, quick=asked.quick)
        else:
            postgres.report(asked.postgres, quick=asked.quick)
        return
    repeat = 1 if asked.quick else asked.repeat
    speed.report(only=asked.bandit, repeat=repeat, quick=asked.quick)
    if not asked.bandit:
        start.report(repeat=repeat, quick=asked.quick)
        impressions.report(repeat=repeat, quick=asked.quick)
        multileaving.report(repeat=repeat, quick=asked.quick)
        loading.report(fraction=0.03, quick=asked.quick)
        live.report(quick=asked.quick)
        service.report(quick=asked.quick)
        running_time.report(quick=asked.quick)


if __name__ == "__main__":
    main()
