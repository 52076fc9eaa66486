"""`rankduel demo`: the whole product before your eyes."""

import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from json import loads
from pathlib import Path
from shutil import rmtree
from time import monotonic
from urllib.request import urlopen

import numpy as np
import numpy.typing as npt

from rankduel.cli.numbers import whole
from rankduel.datasets import Collection, synthetic

__all__ = ["declare"]

_DESCRIPTION = """\
A live tournament in a minute: a service on this machine, its dashboard, and users who search and click.

Fifty rankers of a synthetic web search meet on the pages of simulated users, over HTTP; some clicks come late, twice or
never. Open the address in a browser and watch rankers drop out. It ends by itself when there is a decision, and
leaves DIR/decision.md, and the tournament in DIR/duels.db.
"""
_EXAMPLES = """\
examples:
  rankduel demo
  rankduel demo --keep                  # the dashboard stays, until Ctrl-C
  rankduel demo --seed 7 --out /tmp/demo
"""
_NAME = "demo"
_RANKERS = 50
_BEST, _WORST = 0.66, 0.3  # their quality, in equal steps
_THREADS = 4
_LONGEST = 120.0  # seconds


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """The command and its options."""
    parser = add_parser(
        "demo",
        help="watch a live tournament: service, dashboard and users",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    default = Path("results/demo")
    parser.add_argument(
        "--out", type=Path, default=default, metavar="DIR", help=f"for what is left (default: {default})"
    )
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="another seed, another tournament (default: 0)"
    )
    parser.add_argument("--port", type=whole(0), default=0, metavar="N", help="of the service (default: any free one)")
    parser.add_argument("--keep", action="store_true", help="leave the service running in the end, until Ctrl-C")
    parser.set_defaults(run=partial(_demo, parser))


def _demo(parser: ArgumentParser, options: Namespace) -> int:
    try:
        import msgspec  # noqa: F401, PLC0415 - not of the core
        import starlette  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        parser.error(f"no module {error.name!r}: the demo needs the extra `server`, pip install 'rankduel[server]'")
    quality = np.random.default_rng(options.seed).permutation(np.linspace(_BEST, _WORST, _RANKERS))
    collection = synthetic(n_queries=200, n_rankers=_RANKERS, quality=quality, seed=options.seed)
    folder: Path = options.out / "tournament"
    if folder.exists():
        rmtree(folder)
    folder.mkdir(parents=True)
    with _service(folder / "duels.db", options.port) as address:
        _play(address, collection, options.seed)
        report = options.out / "decision.md"
        with urlopen(f"{address}/v1/tournaments/{_NAME}/report.md") as answer:
            report.write_bytes(answer.read())
        print(f"decision:   {report}\ntournament: {folder / 'duels.db'}")
        if options.keep:
            print(f"dashboard:  {address}/ until Ctrl-C", flush=True)
            with suppress(KeyboardInterrupt):
                signal.pause()
    return 0


def _play(address: str, collection: Collection, seed: int) -> None:
    """Let users search until there is a decision."""
    from rankduel.cli.crowd import Crowd  # noqa: PLC0415 - only where there is a service
    from rankduel.client import Client, Tournament  # noqa: PLC0415

    rankers = [f"ranker-{number:02}" for number in range(1, collection.n_rankers + 1)]
    tournament = Tournament.create(
        _NAME, rankers=rankers, storage=address, baseline=rankers[-1], delta=0.05, tolerance=0.05, seed=seed
    )
    print(f"{len(rankers)} rankers meet at {address}/ : open it in a browser", flush=True)
    began = monotonic()
    with Client(address, _NAME, baseline=rankers[-1], deadline=5.0) as client:
        crowd = Crowd(client, collection, rankers, seed)

        def watch() -> bool:
            decision, counts, seconds = tournament.decision(), tournament.counts, monotonic() - began
            print(
                f"{seconds:5.1f} s: {counts.told:>7,} duels told, {counts.in_flight:>4,} in flight, "
                f"{len(decision.left):>2} rankers left, {decision.champion} leads",
                flush=True,
            )
            return decision.winner is None and not decision.tied and seconds < _LONGEST

        crowd.play(_THREADS, watch)
        client.flush()
        again, late = client.counters.duplicate, client.counters.told_late
    decision = tournament.decision()
    tournament.close()
    print(f"\n{decision}")
    print(f"Users saw {crowd.pages:,} pages; {again:,} were told twice, {late:,} too late.")
    worth = dict(zip(rankers, _worths(collection), strict=True))
    place = 1 + sum(other > worth[decision.champion] for other in worth.values())
    best = max(worth, key=worth.__getitem__)
    print(
        f"Truly, by NDCG@10, {decision.champion} is number {place} of {len(rankers)}, {worth[decision.champion]:.3f}; "
        f"the best is {best} with {worth[best]:.3f}, the mean {np.mean(list(worth.values())):.3f}."
    )


def _worths(collection: Collection) -> npt.NDArray[np.float64]:
    """The truth, which only a simulation knows: the NDCG@10 of each ranker."""
    ideal, discounts = collection.ideal_dcg(10), 1 / np.log2(np.arange(2, 12))
    total = np.zeros(collection.n_rankers)
    for query in range(collection.n_queries):
        gains = 2.0 ** collection.grades_of(query) - 1
        for ranker in range(collection.n_rankers):
            found = gains[collection.ranking(query, ranker)[:10]]
            total[ranker] += found @ discounts[: len(found)] / (ideal[query] or 1)
    return total / collection.n_queries


@contextmanager
def _service(storage: Path, port: int) -> Iterator[str]:
    """A service in a process of its own, and its address."""
    command = [sys.executable, "-m", "rankduel", "serve", "--storage", f"sqlite:///{storage.absolute()}"]
    with subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                told = loads(line) if line.startswith("{") else {}
                if told.get("message") == "listening":
                    yield f"http://{told['host']}:{told['port']}"
                    break
                if told.get("level") in (None, "error"):
                    raise SystemExit(f"rankduel demo: the service did not start: {line.strip()}")
        finally:
            process.terminate()
