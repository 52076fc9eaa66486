"""`rankduel plan`: before a live tournament, how long it will take and what it will cost."""

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
from rankduel.lab.forecast import DEFAULT, Forecast, plan

__all__ = ["declare"]

_DESCRIPTION = """\
How long will a live tournament take, what will it cost users, and how often does the best ranker win? By simulation: on
web searches of so many rankers that are made up, or on a problem of yours, a matrix file or a named one.

With --delay, the same runs are also played without it, which tells its price. Delays are in duels: half an hour at
200,000 duels a day is 4,167.

The table, JSON or CSV goes to stdout, all else to stderr. Finished runs are kept in DIR/runs at once: after Ctrl-C, or
with more runs, the same command computes only what is missing.
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
        help="tell how long a live tournament will take and what it will cost",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--rankers", type=whole(2), metavar="K", help="how many there are")
    option("--problem", metavar="PROBLEM", help="a matrix file or a named problem, instead of made-up searches")
    option("--bandit", default=DEFAULT, metavar="SPEC", help=f"who plays (default: {DEFAULT})")
    option(
        "--delta",
        type=float,
        default=0.05,
        metavar="P",
        help="the chance to lose the best ranker, for a bandit with that option (default: 0.05)",
    )
    option("--daily", type=whole(1), default=200_000, metavar="N", help="duels a day (default: 200,000)")
    option("--deadline", type=float, default=30, metavar="DAYS", help="how likely is an end by then? (default: 30)")
    option("--delay", metavar="LAW", help='how late outcomes come, as in "Geometric(mean=4000)" (default: at once)')
    option("--runs", type=whole(1), default=100, metavar="N", help="runs (default: 100)")
    option("--horizon", type=whole(1), default=10**8, metavar="T", help="duels until a run is given up (default: 1e8)")
    option(
        "--jobs", type=whole(1), default=os.cpu_count() or 1, metavar="N", help="threads (default: one for each core)"
    )
    option("--seed", type=whole(0), default=0, metavar="S", help="same seed, same numbers (default: 0)")
    option("--out", type=Path, default=Path("results"), metavar="DIR", help="where runs are kept (default: results)")
    option("--format", choices=_FORMATS, default="table", help="of what is printed (default: table)")
    parser.set_defaults(run=partial(_plan, parser))


def _plan(parser: ArgumentParser, options: Namespace) -> int:
    if options.rankers is None and options.problem is None:
        parser.error("how many rankers? --rankers K, or --problem PROBLEM")
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
            f"interrupted: finished runs are kept in {options.out}\n"
            f"to go on, run the same command again: rankduel {shlex.join(options.arguments)}",
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
