"""`rankduel simulate`: run bandits on a problem and compare their regret."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from typing import get_args

from rankduel.cli.shared.run_experiment import OUTPUT_HELP, add_run_options, make_experiment, run_experiment
from rankduel.lab import Experiment, Panel, problem_from
from rankduel.preferences import Kind

__all__ = ["declare"]

_DESCRIPTION = f"""\
Compare bandits on a problem: play each of them in many runs and report its regret.

PROBLEM is a matrix file (text, csv, npy or npz, optionally gzipped) or a named problem. Write options in parentheses:
"bradley_terry(n_arms=100, seed=3)". `rankduel problems` and `rankduel bandits` list names and options.

{OUTPUT_HELP}"""
_EXAMPLES = """\
examples:
  rankduel simulate cycle2
  rankduel simulate mslr.npz --bandit MergeDTS --bandit "MergeRUCB(alpha=0.26, batch_size=8)" --horizon 1e8 --runs 50
  rankduel simulate web_search --delay "Geometric(mean=1000, unanswered=0.2, timeout=10_000)"
  rankduel simulate "bradley_terry(n_arms=100)" --bandit RMED1 --runs 20 --format json | jq '.bandits[].regret'
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "simulate",
        help="compare bandits on a problem by their regret",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", metavar="PROBLEM", help="matrix file or named problem")
    add_run_options(parser, runs=10)
    parser.add_argument(
        "--regret", choices=get_args(Kind), default="average", help="kind of regret (default: average, as in the paper)"
    )
    parser.set_defaults(run=partial(_simulate, parser))


def _simulate(parser: ArgumentParser, options: Namespace) -> int:
    experiment = _experiment(parser, options)
    return run_experiment(
        parser, options, experiment, lambda results: [Panel(f"cumulative {experiment.kind} regret", results.curves)]
    )


def _experiment(parser: ArgumentParser, options: Namespace) -> Experiment:
    try:
        name, problem = problem_from(options.problem)
        if options.regret != "copeland" and problem.condorcet_winner is None:
            parser.error(
                f"{name} has no Condorcet winner, which --regret {options.regret} needs; use --regret copeland"
            )
        return make_experiment(options, name, problem, options.regret)
    except (ValueError, ArithmeticError, MemoryError) as error:
        parser.error(str(error))
