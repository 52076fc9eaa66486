"""DATA arguments: load a collection from LETOR files, a fold's folder or TREC runs, or generate one."""

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
DATA is one or more LETOR or SVMlight files, or the folder of a fold, optionally gzipped. MSLR-WEB10K and 30K, Yahoo
LTRC, Istella, MQ2007 and MQ2008 work as distributed. Every feature is a ranker. With --model, the trained models
(LightGBM text, XGBoost JSON) are the rankers instead. With --qrels, DATA are TREC run files. Without files, use
"synthetic" or "synthetic(n_queries=500, n_rankers=50, seed=3)" to generate a collection.
"""


def add_world_options(parser: ArgumentParser) -> None:
    """Add the options of a search world."""
    option = parser.add_argument
    option("data", metavar="DATA", nargs="+", help="files of a collection, or the folder of a fold")
    option("--part", default="train", metavar="NAME", help="part of a fold: train, vali, test or all (default: train)")
    option("--model", action="append", metavar="FILE", help="trained model to use as a ranker; may be repeated")
    option("--qrels", metavar="FILE", help="relevance judgements for TREC runs; each run in DATA is a ranker")
    option(
        "--clicks",
        default="navigational",
        metavar="USER",
        help=f"click model: {', '.join(CLICKS)}, or your own table (default: navigational)",
    )
    option(
        "--interleaving",
        default="probabilistic",
        metavar="METHOD",
        help=f"interleaving method: {', '.join(INTERLEAVINGS)} (default: probabilistic)",
    )
    option(
        "--multileaving",
        default="team_draft",
        metavar="METHOD",
        help=f"multileaving method, for bandits of many rankers: {', '.join(MULTILEAVINGS)} (default: team_draft)",
    )
    option("--k", type=whole(1), default=10, metavar="K", help="number of documents on a page (default: 10)")
    option(
        "--ties",
        choices=get_args(Ties),
        default="consistent",
        help="order of documents with equal scores: random per page, random again for the credit, or as in the file "
        "(default: consistent)",
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
            raise ValueError(f"invalid DATA {first!r}: {error}") from None
    name = Path(first).resolve().name.partition(".")[0]
    if options.qrels is not None:
        if options.model:
            raise ValueError("--model cannot be used with --qrels: models need features, and TREC runs have none")
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
