"""Run one experiment: options, execution, files and output that `simulate` and `duel` share."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from rankduel.cli.shared.formats import FORMATS
from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.progress import describe_runs, show_progress
from rankduel.lab import Engine, Experiment, Panel, PlotUnavailable, Results, Store, execute, save_plot
from rankduel.preferences import Kind
from rankduel.simulation import Problem, delay_from

__all__ = [
    "OUTPUT_HELP",
    "add_engine_options",
    "add_run_options",
    "engine_options",
    "make_experiment",
    "run_experiment",
]

OUTPUT_HELP = """\
The table, JSON or CSV goes to stdout, messages go to stderr. Finished runs are stored in DIR/runs at once. After
Ctrl-C, or with more runs or bandits, the same command computes only the missing ones. Curves are saved to
DIR/NAME-KEY.npz, and their plot to DIR/NAME-KEY.png and .svg. The numbers depend on the seed, not on the number of
jobs.
"""


def add_run_options(parser: ArgumentParser, *, runs: int) -> None:
    """Add the options of an experiment."""
    option = parser.add_argument
    option(
        "--bandit",
        action="append",
        metavar="SPEC",
        help="bandit, or module:Class for your own; may be repeated (default: MergeDTS)",
    )
    option("--horizon", type=whole(1), default=10**6, metavar="T", help="number of duels in a run (default: 1e6)")
    option("--runs", type=whole(1), default=runs, metavar="N", help=f"number of runs per bandit (default: {runs})")
    option(
        "--delay",
        metavar="LAW",
        help='delay of outcomes in duels, as in "Geometric(mean=1000, in_flight=5000)" (default: none)',
    )
    option(
        "--jobs",
        type=whole(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of threads (default: one per core)",
    )
    add_engine_options(parser)
    option(
        "--seed",
        type=whole(0),
        default=0,
        metavar="S",
        help="random seed; the same seed gives the same numbers (default: 0)",
    )
    option("--out", type=Path, default=Path("results"), metavar="DIR", help="folder for results (default: results)")
    option("--format", choices=FORMATS, default="table", help="output format (default: table)")


def add_engine_options(parser: ArgumentParser) -> None:
    """Add the options of the engine that computes the runs."""
    option = parser.add_argument
    option(
        "--engine",
        choices=get_args(Engine),
        default="local",
        help="compute on this machine or on a Dask cluster (default: local)",
    )
    option("--address", metavar="URL", help="address of the Dask scheduler, as in tcp://10.0.0.1:8786")


def engine_options(parser: ArgumentParser, options: Namespace) -> dict[str, Any]:
    """Check the engine options and return them as arguments of `execute`."""
    if options.engine == "dask" and options.address is None:
        parser.error("--engine dask needs the address of the scheduler, as in --address tcp://10.0.0.1:8786")
    if options.engine == "local" and options.address is not None:
        parser.error(f"--address {options.address} needs --engine dask")
    return {"jobs": options.jobs, "engine": options.engine, "address": options.address}


def make_experiment(options: Namespace, name: str, problem: Problem, kind: Kind = "average") -> Experiment:
    """The experiment that the options describe; ValueError if they are invalid."""
    bandits = tuple(options.bandit or ["MergeDTS"])
    return Experiment(
        name,
        problem,
        bandits,
        horizon=options.horizon,
        runs=options.runs,
        seed=options.seed,
        kind=kind,
        delay=None if options.delay is None else delay_from(options.delay),
    )


def run_experiment(
    parser: ArgumentParser,
    options: Namespace,
    experiment: Experiment,
    panels: Callable[[Results], Sequence[Panel]],
) -> int:
    """Compute the missing runs, save all results, draw the panels, and print the rows."""
    engine = engine_options(parser, options)
    store = Store(options.out)
    store.prepare()
    try:
        with show_progress() as show:
            runs = execute(experiment.units, store, **engine, watch=lambda progress: show(describe_runs(progress)))
        results = Results(experiment, runs)
        curves = options.out / f"{experiment.file_name}.npz"
        results.save(curves)
        plots = _plot(results, panels(results), options.out)
    except KeyboardInterrupt:
        done = sum(store.read(unit) is not None for unit in experiment.units)
        print(
            f"interrupted: {done} of {len(experiment.units)} runs are stored in {options.out}\n"
            f"to continue, run the same command again: rankduel {shlex.join(options.arguments)}",
            file=sys.stderr,
        )
        raise
    print(FORMATS[options.format](results, curves), end="", flush=True)
    print("\n".join(f"saved {path}" for path in [curves, *plots]), file=sys.stderr)
    return 0


def _plot(results: Results, panels: Sequence[Panel], folder: Path) -> list[Path]:
    experiment = results.experiment
    runs = "one run" if experiment.runs == 1 else f"mean of {experiment.runs} runs ± standard error"
    try:
        return save_plot(
            folder / experiment.file_name,
            panels,
            title=f"{experiment.name}: {experiment.problem.n_arms} arms, {runs}",
        )
    except PlotUnavailable as error:
        print(error, file=sys.stderr)
        return []
