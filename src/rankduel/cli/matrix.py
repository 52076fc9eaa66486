"""`rankduel matrix`: estimate a preference matrix from simulated clicks."""

import json
import os
import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rankduel.cli.shared.data import DATA, add_world_options, load_world
from rankduel.cli.shared.numbers import count, whole
from rankduel.cli.shared.progress import describe_parts, show_progress
from rankduel.lab import Estimate, Estimation

__all__ = ["declare"]

_DESCRIPTION = f"""\
Estimate the preference matrix of the rankers of a collection. Entry i, j is the probability that ranker i beats ranker
j when their lists are interleaved and simulated users click.

{DATA}
By default, a tied duel counts as half a win for both rankers, and queries are stratified. With --faithful, the estimate
follows the matrices published with MergeDTS: a coin flip decides ties, queries are drawn independently, and each count
starts at one win.

The matrix is saved to FILE, in the npz format that `rankduel simulate` reads. A summary goes to stdout. Intermediate
counts are saved to FILE.KEY.part, so the same command continues after Ctrl-C or a crash. The numbers depend on the
seed, not on the number of jobs.
"""
_EXAMPLES = """\
examples:
  rankduel matrix MSLR-WEB10K/Fold1 --clicks navigational --duels 400000 -o P.npz
  rankduel matrix MQ2008/S1.txt MQ2008/S2.txt --clicks perfect --ties redraw --faithful
  rankduel matrix runs/*.txt --qrels qrels.txt --clicks informational
  rankduel matrix "synthetic(n_queries=200, n_rankers=30)" --duels 1e4 && rankduel simulate preferences.npz
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "matrix",
        help="estimate the preference matrix of the rankers of a collection",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_world_options(parser)
    option = parser.add_argument
    option(
        "--duels",
        type=whole(1),
        default=400_000,
        metavar="N",
        help="number of duels per pair of rankers (default: 400,000)",
    )
    option(
        "--faithful",
        action="store_true",
        help="method of the published matrices: coin flips for ties, independent queries, +1 / +2",
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
    default = Path("preferences.npz")
    option(
        "-o", "--out", type=Path, default=default, metavar="FILE", help=f"npz file for the matrix (default: {default})"
    )
    option("--format", choices=("text", "json"), default="text", help="format of the summary (default: text)")
    parser.set_defaults(run=partial(_matrix, parser))


def _matrix(parser: ArgumentParser, options: Namespace) -> int:
    if options.out.suffix != ".npz":
        parser.error(f"--out must end in .npz, got {options.out}")
    options.out.parent.mkdir(parents=True, exist_ok=True)  # fail before the work, not after it
    name, world = load_world(parser, options)
    try:
        estimation = Estimation(world, duels=options.duels, faithful=options.faithful, seed=options.seed)
    except ValueError as error:
        parser.error(str(error))
    part = options.out.with_name(f"{options.out.name}.{estimation.key[:8]}.part")
    try:
        with show_progress() as show:
            estimate = estimation.run(
                jobs=options.jobs, checkpoint=part, watch=lambda progress: show(describe_parts(progress))
            )
        estimate.save(options.out)
        part.unlink(missing_ok=True)
    except KeyboardInterrupt:
        print(
            f"interrupted: the counts so far are saved in {part}\n"
            f"to continue, run the same command again: rankduel {shlex.join(options.arguments)}",
            file=sys.stderr,
        )
        raise
    print(_json(estimate, options.out) if options.format == "json" else _text(name, estimate), flush=True)
    print(f"saved {options.out}", file=sys.stderr)
    return 0


def _text(name: str, estimate: Estimate) -> str:
    summary, names = estimate.matrix.summary(), estimate.names
    errors = estimate.standard_errors
    pairs = summary.n_arms * (summary.n_arms - 1) // 2
    decided = (estimate.wins + estimate.wins.T).sum() / 2 / (pairs * estimate.duels)
    lines = [
        f"{name}: {summary.n_arms} rankers, {estimate.duels:,} duels for each of {pairs:,} pairs, "
        f"{count(pairs * estimate.duels)} duels in total"
    ]
    if summary.condorcet_winner is None or summary.smallest_gap is None:
        best = ", ".join(_called(arm, names) for arm in summary.copeland_winners)
        lines.append(f"Condorcet winner:  none; most wins: {best}")
    else:
        gap = summary.smallest_gap
        rival = int(estimate.matrix.gaps.argsort()[1])
        error = errors[summary.condorcet_winner, rival]
        sure = "" if gap > 2 * error else " (not significant)"
        lines.append(f"Condorcet winner:  {_called(summary.condorcet_winner, names)}")
        lines.append(f"smallest gap:      {gap:.5f} over {_called(rival, names)}, standard error {error:.5f}{sure}")
    lines += [
        f"Borda winner:      {_called(summary.borda_winner, names)}",
        f"3-cycles:          {summary.three_cycles:,}",
        f"duplicates:        {_groups(summary.duplicates, names)}",
        f"standard error:    at most {errors.max():.5f} in any entry",
    ]
    if not estimate.faithful:  # with --faithful, a coin flip decides the others
        lines.append(f"decided by clicks: {100 * decided:.1f} % of the duels")
    return "\n".join(lines)


def _called(arm: int, names: tuple[str, ...]) -> str:
    return f"{arm} ({names[arm]})" if names[arm] != str(arm) else str(arm)


def _groups(groups: tuple[tuple[int, ...], ...], names: tuple[str, ...]) -> str:
    if not groups:
        return "none"
    shown = "; ".join(" = ".join(_called(arm, names) for arm in group) for group in groups[:5])
    return shown if len(groups) <= 5 else f"{shown}; and {len(groups) - 5} more groups"


def _json(estimate: Estimate, path: Path) -> str:
    facts = asdict(estimate.matrix.summary()) | {"standard_error": float(estimate.standard_errors.max())}
    return json.dumps(estimate.provenance | facts | {"matrix": str(path)}, indent=2)
