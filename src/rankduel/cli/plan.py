"""`rankduel plan`: estimate duration and cost of a live tournament by simulation."""

import csv
import io
import json
import os
import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.progress import describe_runs, show_progress
from rankduel.lab.forecast import Forecast, plan
from rankduel.live.defaults import DEFAULT, DEFAULT_DELTA

__all__ = ["declare"]

_DESCRIPTION = """\
Estimate how long a live tournament takes, how much it costs your users, and how often the best ranker wins.

The estimate is a simulation, on synthetic web searches with K rankers, or on your own problem: a matrix file or a named
problem. With --delay, the same runs are also simulated without the delay, to show its cost. Delays are in duels: half
an hour at 200,000 duels a day is 4,167 duels.

The table, JSON or CSV goes to stdout, messages go to stderr. Finished runs are stored in DIR/runs at once. After
Ctrl-C, or with more runs, the same command computes only the missing ones.
"""
_EXAMPLES = """\
examples:
  rankduel plan --rankers 136 --daily 200_000
  rankduel plan --rankers 136 --delay "Geometric(mean=4000, unanswered=0.3, timeout=20_000)"
  rankduel plan --problem preferences.npz --bandit "MergeDTS(alpha=0.5)" --deadline 14 --runs 200 --format json
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "plan",
        help="estimate duration and cost of a live tournament",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--rankers", type=whole(2), metavar="K", help="number of rankers")
    option("--problem", metavar="PROBLEM", help="matrix file or named problem, instead of synthetic web searches")
    option("--bandit", default=DEFAULT, metavar="SPEC", help=f"bandit (default: {DEFAULT})")
    option(
        "--delta",
        type=float,
        default=DEFAULT_DELTA,
        metavar="P",
        help="maximum probability of eliminating the best ranker, for bandits with that option (default: "
        f"{DEFAULT_DELTA})",
    )
    option("--daily", type=whole(1), default=200_000, metavar="N", help="number of duels per day (default: 200,000)")
    option(
        "--deadline",
        type=float,
        default=30,
        metavar="DAYS",
        help="days within which you need a decision; its probability is reported (default: 30)",
    )
    option("--delay", metavar="LAW", help='delay of outcomes in duels, as in "Geometric(mean=4000)" (default: none)')
    option("--runs", type=whole(1), default=100, metavar="N", help="number of runs (default: 100)")
    option(
        "--horizon", type=whole(1), default=10**8, metavar="T", help="maximum number of duels in a run (default: 1e8)"
    )
    option(
        "--jobs",
        type=whole(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of threads (default: one per core)",
    )
    option(
        "--seed",
        type=whole(0),
        default=0,
        metavar="S",
        help="random seed; the same seed gives the same numbers (default: 0)",
    )
    option(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="folder for finished runs (default: results)"
    )
    option("--format", choices=_FORMATS, default="table", help="output format (default: table)")
    parser.set_defaults(run=partial(_plan, parser))


def _plan(parser: ArgumentParser, options: Namespace) -> int:
    if options.rankers is None and options.problem is None:
        parser.error("no rankers given; pass --rankers K or --problem PROBLEM")
    try:
        with show_progress() as show:
            forecast = plan(
                options.rankers,
                problem=options.problem,
                bandit=options.bandit,
                delta=options.delta,
                daily_duels=options.daily,
                deadline=options.deadline,
                delay=options.delay,
                runs=options.runs,
                horizon=options.horizon,
                seed=options.seed,
                jobs=options.jobs,
                out=options.out,
                watch=lambda progress: show(describe_runs(progress)),
            )
    except (ValueError, ArithmeticError, MemoryError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(
            f"interrupted: finished runs are stored in {options.out}\n"
            f"to continue, run the same command again: rankduel {shlex.join(options.arguments)}",
            file=sys.stderr,
        )
        raise
    print(_FORMATS[options.format](forecast), end="", flush=True)
    return 0


def _table(forecast: Forecast) -> str:
    return f"{forecast}\n"


def _json(forecast: Forecast) -> str:
    return json.dumps(asdict(forecast), indent=2) + "\n"


def _csv(forecast: Forecast) -> str:
    rows = forecast.rows()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


_FORMATS: dict[str, Callable[[Forecast], str]] = {"table": _table, "json": _json, "csv": _csv}
