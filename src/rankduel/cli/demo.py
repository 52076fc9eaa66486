"""`rankduel demo`: a whole tournament before your eyes."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from rankduel.cli.numbers import whole
from rankduel.cli.stage import show_scenes
from rankduel.lab import Panel, PlotUnavailable, Showcase, play_showcase, save_plot

__all__ = ["declare"]

_DESCRIPTION = """\
MergeDTS finds the best of 136 rankers of a synthetic web search, while you watch its batches shrink.

The tournament takes less than a second of CPU; on a terminal it is slowed down to be seen. It ends by itself, when one
ranker is left. The regret is plotted in DIR/regret.png and .svg, beside that of uniform play over the same duels.
"""
_EXAMPLES = """\
examples:
  rankduel demo
  rankduel demo --seed 7 --out /tmp/demo
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """The command and its options."""
    parser = add_parser(
        "demo",
        help="watch a whole tournament of 136 rankers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    default = Path("results/demo")
    parser.add_argument("--out", type=Path, default=default, metavar="DIR", help=f"for the plot (default: {default})")
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="another seed, another tournament (default: 0)"
    )
    parser.set_defaults(run=_demo)


def _demo(options: Namespace) -> int:
    with show_scenes() as watch:
        showcase = play_showcase(options.seed, watch)
    print(_epilogue(showcase))
    try:
        paths = save_plot(
            options.out / "regret",
            [Panel("cumulative average regret", showcase.curves)],
            title=f"The best of {showcase.rankers} rankers, found after {showcase.duels:,} duels",
        )
        print("regret plot: ", " and ".join(map(str, paths)))
    except PlotUnavailable as error:
        print(error, file=sys.stderr)
    return 0


def _epilogue(showcase: Showcase) -> str:
    regret, uniform = (curve.values[-1] for curve in showcase.curves)
    right = showcase.winner == showcase.condorcet_winner
    truth = "truly the best: it beats every other" if right else f"but truly the best is {showcase.condorcet_winner}"
    return f"""
winner:       ranker {showcase.winner}, {truth}
found after:  {showcase.duels:,} duels
regret:       {regret:,.0f}; uniform play over the same duels cost {uniform:,.0f}, {uniform / regret:.1f} times as much
CPU time:     {showcase.cpu_seconds:.2f} s, {1e6 * showcase.cpu_seconds / showcase.duels:.2f} us per duel"""
