"""`rankduel simulate`: play bandits on a problem, many times, and compare their regret."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

from rankduel.cli.formats import FORMATS
from rankduel.cli.numbers import whole
from rankduel.cli.progress import show_progress
from rankduel.lab import Experiment, PlotUnavailable, Results, Store, execute, problem_from, save_plot
from rankduel.preferences import Kind

__all__ = ["declare"]

_DESCRIPTION = """\
Play bandits on a problem, many times, and compare their regret.

PROBLEM is a matrix file (text, csv, npy or npz, gzipped or not) or a named problem (see `rankduel problems`), with
options as in "bradley_terry(n_arms=100, seed=3)". Bandits have options too (see `rankduel bandits`).

The table, JSON or CSV goes to stdout, all else to stderr. Finished runs are kept in DIR/runs at once: after Ctrl-C,
or with more runs or bandits, the same command computes only what is missing. All curves go to DIR/NAME-KEY.npz, and
their plot to DIR/NAME-KEY.png and .svg. The numbers depend on the seed, not on the number of jobs.
"""
_EXAMPLES = """\
examples:
  rankduel simulate cycle2
  rankduel simulate mslr.npz --bandit MergeDTS --bandit "MergeRUCB(alpha=0.26, batch_size=8)" --horizon 1e8 --runs 50
  rankduel simulate "bradley_terry(n_arms=100)" --bandit RMED1 --runs 20 --format json | jq '.bandits[].regret'
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """The command and its options."""
    parser = add_parser(
        "simulate",
        help="play bandits on a problem and compare their regret",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("problem", metavar="PROBLEM", help="a matrix file or a named problem")
    option("--bandit", action="append", metavar="SPEC", help="a bandit, may be repeated (default: MergeDTS)")
    option("--horizon", type=whole(1), default=10**6, metavar="T", help="duels in a run (default: 1e6)")
    option("--runs", type=whole(1), default=10, metavar="N", help="runs of each bandit (default: 10)")
    option(
        "--jobs", type=whole(1), default=os.cpu_count() or 1, metavar="N", help="threads (default: one for each core)"
    )
    option("--seed", type=whole(0), default=0, metavar="S", help="same seed, same numbers (default: 0)")
    option(
        "--regret", choices=get_args(Kind), default="average", help="what a duel costs (default: the paper's average)"
    )
    option("--out", type=Path, default=Path("results"), metavar="DIR", help="where results are kept (default: results)")
    option("--format", choices=FORMATS, default="table", help="of what is printed (default: table)")
    parser.set_defaults(run=partial(_simulate, parser))


def _simulate(parser: ArgumentParser, options: Namespace) -> int:
    experiment = _experiment(parser, options)
    store = Store(options.out)
    store.prepare()
    try:
        with show_progress() as watch:
            results = Results(experiment, execute(experiment.units, store, jobs=options.jobs, watch=watch))
        curves = options.out / f"{experiment.file_name}.npz"
        results.save(curves)
        plots = _plot(results, options.out)
    except KeyboardInterrupt:
        done = sum(store.read(unit) is not None for unit in experiment.units)
        print(
            f"interrupted: {done} of {len(experiment.units)} runs are kept in {options.out}\n"
            f"to go on, run the same command again: rankduel {shlex.join(options.arguments)}",
            file=sys.stderr,
        )
        raise
    print(FORMATS[options.format](results, curves), end="", flush=True)
    print("\n".join(f"saved {path}" for path in [curves, *plots]), file=sys.stderr)
    return 0


def _experiment(parser: ArgumentParser, options: Namespace) -> Experiment:
    try:
        name, problem = problem_from(options.problem)
        if options.regret != "copeland" and problem.condorcet_winner is None:
            parser.error(
                f"{name} has no Condorcet winner, and {options.regret} regret needs one: use --regret copeland"
            )
        return Experiment(
            name,
            problem,
            tuple(options.bandit or ["MergeDTS"]),
            horizon=options.horizon,
            runs=options.runs,
            seed=options.seed,
            kind=options.regret,
        )
    except (ValueError, ArithmeticError, MemoryError) as error:
        parser.error(str(error))


def _plot(results: Results, folder: Path) -> list[Path]:
    experiment = results.experiment
    runs = "one run" if experiment.runs == 1 else f"mean of {experiment.runs} runs ± standard error"
    try:
        return save_plot(
            folder / experiment.file_name,
            results.curves,
            title=f"{experiment.name}: {experiment.problem.n_arms} arms, {runs}",
            regret=f"cumulative {experiment.kind} regret",
        )
    except PlotUnavailable as error:
        print(error, file=sys.stderr)
        return []
