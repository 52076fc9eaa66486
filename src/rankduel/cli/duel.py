"""`rankduel duel`: compare bandits online, on searches of simulated users."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rankduel.bandits import MULTI_REGISTRY
from rankduel.cli.shared.data import DATA, add_world_options, load_world
from rankduel.cli.shared.run_experiment import OUTPUT_HELP, add_run_options, make_experiment, run_experiment
from rankduel.lab import Panel, Results
from rankduel.preferences import PreferenceMatrix

__all__ = ["declare"]

MANY = " and ".join(", ".join(MULTI_REGISTRY).rsplit(", ", 1))
_DESCRIPTION = f"""\
Compare bandits online. Simulated users search, see the interleaved lists of the two rankers that a bandit chose, and
click. {MANY} choose more than two rankers, which share a page by --multileaving.
The results are clicks@k and NDCG@k of the lists that users saw. With --preferences, they include regret.

{DATA}
{OUTPUT_HELP}"""
_EXAMPLES = """\
examples:
  rankduel duel MSLR-WEB10K/Fold1 --bandit MergeDTS --interleaving probabilistic --clicks navigational --horizon 2e6
  rankduel duel synthetic --bandit "MergeDTS(alpha=0.51)" --bandit MultiUCB --bandit "MultiUCB(rule='released')"
  rankduel duel synthetic --bandit "MDB(beta=2)" --bandit "CertifiedMulti(arms_per_duel=8)" --multileaving team_draft
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "duel",
        help="compare bandits on searches of simulated users",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_world_options(parser)
    parser.add_argument(
        "--preferences",
        type=Path,
        metavar="FILE",
        help="matrix of the true preferences, needed to report regret and the best ranker",
    )
    add_run_options(parser, runs=5)
    parser.set_defaults(run=partial(_duel, parser))


def _duel(parser: ArgumentParser, options: Namespace) -> int:
    try:
        truth = None if options.preferences is None else PreferenceMatrix.load(options.preferences)
        if truth is not None and truth.condorcet_winner is None:
            parser.error(f"{options.preferences} has no Condorcet winner, which regret needs; omit --preferences")
        name, world = load_world(parser, options, truth)
        experiment = make_experiment(options, name, world)
    except (ValueError, ArithmeticError, MemoryError) as error:
        parser.error(str(error))
    return run_experiment(parser, options, experiment, _panels)


def _panels(results: Results) -> list[Panel]:
    panels = [Panel(f"{name}, mean so far", results.averages(name), from_zero=False) for name in results.measures]
    if results.knows_regret:
        panels.append(Panel("cumulative average regret", results.curves))
    return panels
