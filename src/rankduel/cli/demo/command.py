"""`rankduel demo`: run a live tournament with a service, its dashboard and simulated users."""

import json
import logging
import signal
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.cli.demo.scoreboard import Score, show_scores
from rankduel.cli.demo.service_process import ServiceProcess, running_service
from rankduel.cli.demo.simulated_users import EXPIRES_AFTER_SECONDS, SimulatedUsers
from rankduel.cli.shared.numbers import whole
from rankduel.client import Client, Counters, Tournament
from rankduel.datasets import synthetic

__all__ = ["declare"]

_DESCRIPTION = """\
Run a live tournament in half a minute, with a service on this machine, its dashboard, and simulated users.

64 rankers of a synthetic web search compete over HTTP, on pages that simulated users see. Some clicks arrive late,
twice or never. Open the address in your browser to watch the elimination. The demo ends with a decision and writes its
report to DIR/decision.md and DIR/decision.json. The storage is a temporary file.
"""
_EXAMPLES = """\
examples:
  rankduel demo
  rankduel demo --keep --port 8080      # the dashboard stays at http://127.0.0.1:8080/ until Ctrl-C
  rankduel demo --seed 7 --out /tmp/demo
"""
_NAME = "demo"
_RANKERS = 64
_QUERIES = 500
_BEST, _SECOND, _WORST = 0.74, 0.6, 0.15  # quality: how well scores follow grades
_POLL_INTERVAL_SECONDS = 0.5
_ASK_TIMEOUT_SECONDS = 0.25  # ten times the default: users, service and browser share one machine


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "demo",
        help="run a live tournament with service, dashboard and simulated users",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    default = Path("results/demo")
    parser.add_argument(
        "--out", type=Path, default=default, metavar="DIR", help=f"folder for the report (default: {default})"
    )
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="random seed of rankers and users (default: 0)"
    )
    parser.add_argument(
        "--port", type=whole(0), default=0, metavar="N", help="port of the service (default: any free port)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the service running after the decision, until Ctrl-C")
    parser.set_defaults(run=partial(_demo, parser))


def _demo(parser: ArgumentParser, options: Namespace) -> int:
    for module in ("httptools", "msgspec", "starlette", "uvicorn", "uvloop"):
        if find_spec(module) is None:
            parser.error(f"the demo needs {module}, which is not installed: pip install 'rankduel[server]'")
    logging.getLogger("rankduel").addHandler(
        logging.NullHandler()
    )  # users are late on purpose: no warnings of the client
    for ending in (signal.SIGTERM, signal.SIGHUP):  # like Ctrl-C, so that the service stops too
        signal.signal(ending, signal.default_int_handler)
    out: Path = options.out
    with TemporaryDirectory(prefix="rankduel-demo-") as folder, running_service(Path(folder), options.port) as service:
        out.mkdir(parents=True, exist_ok=True)
        counters = _play(service, options.seed)
        for name, path in (("decision.md", "report.md"), ("decision.json", "report")):
            (out / name).write_bytes(service.read(f"/v1/tournaments/{_NAME}/{path}"))
        print(_ending(_report(service), counters, options.seed))
        print(f"report: {out / 'decision.md'} and {out / 'decision.json'}", flush=True)
        if options.keep:
            with suppress(KeyboardInterrupt):
                print(f"dashboard: {service.address}/ (press Ctrl-C to stop)", flush=True)
                while True:
                    service.check()
                    sleep(_POLL_INTERVAL_SECONDS)
    return 0


def _play(service: ServiceProcess, seed: int) -> Counters:
    """Let users search until there is a decision; return the client's counters."""
    qualities = _qualities(seed)
    names = [f"ranker-{number:02}" for number in range(1, len(qualities) + 1)]
    # The baseline is better than three quarters of the rankers, as in practice.
    baseline = names[int(np.argsort(qualities)[3 * len(names) // 4])]
    Tournament.create(
        _NAME,
        rankers=names,
        storage=service.address,
        baseline=baseline,
        delta=0.05,
        tolerance=0.05,
        expires_after=EXPIRES_AFTER_SECONDS,
        seed=seed,
    ).close()
    print(f"{len(names)} rankers compete on pages of simulated users. The baseline is {baseline}.")
    print(f"dashboard: {service.address}/", flush=True)
    collection = synthetic(_QUERIES, len(names), quality=qualities, tieness=np.zeros(len(names)), seed=seed)
    began, over = monotonic(), False
    with Client(service.address, _NAME, baseline=baseline, deadline=_ASK_TIMEOUT_SECONDS) as client:
        with show_scores() as show, SimulatedUsers(client, collection, names, seed).searching():
            while not over:
                sleep(_POLL_INTERVAL_SECONDS)
                score = Score.of(_report(service), monotonic() - began)
                show(score)
                over = score.over
        client.flush()
        return client.counters


def _qualities(seed: int) -> npt.NDArray[np.float64]:
    """True qualities, known only in a simulation: one ranker is clearly the best, the others range from good to bad."""
    others = np.linspace(_SECOND, _WORST, _RANKERS - 1)
    return np.random.default_rng(seed).permutation(np.append(others, _BEST))


def _report(service: ServiceProcess) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(service.read(f"/v1/tournaments/{_NAME}/report"))
    return report


def _ending(report: dict[str, Any], counters: Counters, seed: int) -> str:
    best = int(_qualities(seed).argmax()) + 1
    late = report["issued"] - report["duels"]
    return f"""
{report["headline"]}
{report["meaning"]}
In this simulation, the best ranker is known: it is ranker-{best:02}.
Users saw {counters.asks:,} pages. Clicks arrived twice for {counters.duplicate:,} and too late or never for {late:,}.
{counters.asks - counters.answered:,} pages showed the baseline because the service did not answer in time."""
