"""Run specs as one plan and write the report: options and execution that `reproduce` and `bench` share."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.progress import describe_runs, show_progress
from rankduel.cli.shared.run_experiment import add_engine_options, engine_options
from rankduel.lab import Report, Spec, Store, Study, execute, plan_all, run_all, write_report

__all__ = ["OUTPUT_HELP", "add_spec_options", "run_specs"]

OUTPUT_HELP = """\
The results in DIR are report.html (everything on one page), figures/ (PNG, SVG, PDF), tables/ (Markdown, CSV, LaTeX)
and curves/ (npz, with everything needed to repeat any run). Finished runs are stored in DIR/runs at once. After Ctrl-C,
or with more runs or bandits, the same command computes only the missing ones. Progress goes to stderr.
"""


def add_spec_options(parser: ArgumentParser, *, out: Path) -> None:
    """Add the options of a run of specs."""
    option = parser.add_argument
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
    option("--out", type=Path, default=out, metavar="DIR", help=f"folder for results (default: {out})")
    option(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder with the data sets of the paper (default: $RANKDUEL_DATA, or synthetic stand-ins)",
    )


def run_specs(
    parser: ArgumentParser, options: Namespace, specs: Sequence[Spec], scale: str | None
) -> tuple[list[Study], Report]:
    """Compute the missing runs and write the report; exit with an error if a spec is invalid."""
    engine = engine_options(parser, options)
    try:
        planned = plan_all(specs, scale=scale, data=options.data, seed=options.seed)
    except (ValueError, ArithmeticError, MemoryError) as error:
        parser.error(str(error))
    try:
        with show_progress() as show:
            studies = run_all(
                planned,
                scale=scale,
                jobs=options.jobs,
                out=options.out,
                watch=lambda progress: show(describe_runs(progress)),
                compute=partial(execute, engine=engine["engine"], address=engine["address"]),
            )
        report = write_report(studies, options.out)
    except KeyboardInterrupt:
        units = {unit.key: unit for _, experiments in planned for each in experiments for unit in each.experiment.units}
        store = Store(options.out)
        done = sum(store.read(unit) is not None for unit in units.values())
        print(
            f"interrupted: {done} of {len(units)} runs are stored in {options.out}\n"
            f"to continue, run the same command again: rankduel {shlex.join(options.arguments)}",
            file=sys.stderr,
        )
        raise
    for warning in report.warnings:
        print(warning, file=sys.stderr)
    print(f"saved {report.page}, with curves, figures and tables in the same folder", file=sys.stderr)
    return studies, report
