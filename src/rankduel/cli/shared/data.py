"""DATA arguments: a collection from LETOR files, a fold's folder, TREC runs, or a synthetic one."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from rankduel import datasets
from rankduel.cli.shared.numbers import count, duration, whole
from rankduel.cli.shared.progress import ProgressState, show_progress
from rankduel.clicks import CLICKS
from rankduel.datasets import Collection
from rankduel.interleaving import INTERLEAVINGS, MULTILEAVINGS
from rankduel.preferences import PreferenceMatrix
from rankduel.simulation import SearchWorld, Ties
from rankduel.spec import parse

__all__ = ["DATA", "add_world_options", "load_world"]

DATA = """\
DATA is a LETOR or SVMlight file, several of them, or the folder of a fold (MSLR-WEB10K and 30K, Yahoo LTRC, Istella,
MQ2007 and 2008 as they are distributed, gzipped or not): every feature is a ranker, or every trained model given by
--model (LightGBM text, XGBoost JSON). With --qrels, DATA are TREC run files. Without any file, "synthetic" or
"synthetic(n_queries=500, n_rankers=50, seed=3)" makes a collection up.
"""


def add_world_options(parser: ArgumentParser) -> None:
    """Add the options of a search world."""
    option = parser.add_argument
    option("data", metavar="DATA", nargs="+", help="files of a collection, or a fold's folder")
    option("--part", default="train", metavar="NAME", help="of a folder: train, vali, test or all (default: train)")
    option("--model", action="append", metavar="FILE", help="a trained model as a ranker, may be repeated")
    option("--qrels", metavar="FILE", help="judgements: DATA are TREC runs, each a ranker")
    option(
        "--clicks",
        default="navigational",
        metavar="USER",
        help=f"{', '.join(CLICKS)}, or a table of your own (default: navigational)",
    )
    option(
        "--interleaving",
        default="probabilistic",
        metavar="METHOD",
        help=f"{', '.join(INTERLEAVINGS)} (default: probabilistic)",
    )
    option(
        "--multileaving",
        default="team_draft",
        metavar="METHOD",
        help=f"for bandits that play many rankers at once: {', '.join(MULTILEAVINGS)} (default: sosm)",
    )
    option("--k", type=whole(1), default=10, metavar="K", help="documents on a page (default: 10)")
    option(
        "--ties",
        choices=get_args(Ties),
        default="consistent",
        help="the order of equal scores: drawn for each page, drawn again for the credit, or as in the file",
    )


def load_world(
    parser: ArgumentParser, options: Namespace, preferences: PreferenceMatrix | None = None
) -> tuple[str, SearchWorld]:
    """Load the world that the options describe, with its name; invalid options end the program."""
    try:
        name, collection = _load(options)
        return name, SearchWorld(
            collection,
            clicks=options.clicks,
            interleaving=options.interleaving,
            multileaving=options.multileaving,
            k=options.k,
            ties=options.ties,
            preferences=preferences,
        )
    except (ValueError, ImportError) as error:
        parser.error(str(error))


def _load(options: Namespace) -> tuple[str, Collection]:
    first = options.data[0]
    if len(options.data) == 1 and first.partition("(")[0].strip() == "synthetic" and not Path(first).exists():
        try:
            make: Callable[..., Collection] = datasets.synthetic
            return first, make(**parse(first)[1])
        except TypeError as error:
            raise ValueError(f"cannot make {first!r}: {error}") from None
    name = Path(first).resolve().name.partition(".")[0]
    if options.qrels is not None:
        if options.model:
            raise ValueError("--model ranks documents by their features, and TREC runs have none")
        return name, datasets.load_trec(options.data, options.qrels)
    with show_progress() as show:
        return name, datasets.load_letor(options.data, part=options.part, models=options.model, watch=_watch(show))


def _watch(show: Callable[[ProgressState], None]) -> Callable[[int, int], None]:
    began = time.monotonic()

    def watch(done: int, total: int) -> None:
        seconds = time.monotonic() - began
        share = done / total if total else 1.0
        rate = done / seconds if seconds else 0.0
        left = f"{duration((total - done) / rate)} left" if done < total and rate else f"read in {duration(seconds)}"
        worth_a_line = done == total and seconds > 2
        show(ProgressState(share, f"reading {count(total)}B", f"{count(rate)}B/s, {left}", worth_a_line))

    return watch
