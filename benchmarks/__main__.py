"""`python -m benchmarks`: the table of the README. `--instructions`: callgrind's counts and how they have changed."""

import argparse
from collections.abc import Sequence

import rankduel as rd
from benchmarks import (
    impressions,
    instructions,
    live,
    loading,
    multileaving,
    postgres,
    running_time,
    service,
    speed,
    start,
)


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="a few seconds: does it run at all?")
    options.add_argument("--repeat", type=int, default=5, help="runs of each bandit (default 5)")
    options.add_argument("--bandit", action="append", default=[], choices=list(rd.REGISTRY), help="only this one")
    options.add_argument("--instructions", action="store_true", help="count instructions instead of time")
    options.add_argument("--record", action="store_true", help="with --instructions: make these the recorded counts")
    options.add_argument(
        "--loading", type=float, metavar="FRACTION", help="only a file of that fraction of MSLR-WEB30K"
    )
    options.add_argument("--live", action="store_true", help="only the live tournament")
    options.add_argument(
        "--endurance", type=int, metavar="DUELS", help="only a live tournament of so many duels: memory, and opening it"
    )
    options.add_argument("--service", action="store_true", help="only the HTTP service")
    options.add_argument("--postgres", metavar="URL", help="only live tournaments in that PostgreSQL database")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    asked = parser().parse_args(arguments)
    if asked.instructions:
        instructions.report(only=asked.bandit, record=asked.record, quick=asked.quick)
        return
    if asked.loading is not None:
        loading.report(fraction=asked.loading, quick=asked.quick)
        return
    if asked.live:
        live.report(quick=asked.quick)
        return
    if asked.endurance is not None:
        live.endurance(asked.endurance)
        return
    if asked.service:
        service.report(quick=asked.quick)
        return
    if asked.postgres is not None:
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
