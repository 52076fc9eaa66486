"""A real scheduler and two real workers, one of which is killed."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import rankduel as rd
from cli.processes import run, start, until
from lab.own import GREEDY, STEPS, forget
from rankduel.clicks import CLICKS, PositionBased, RandomUser
from rankduel.interleaving import INTERLEAVINGS, MULTILEAVINGS
from rankduel.lab import Experiment, Progress, Results, Store, execute
from rankduel.simulation import Problem

# Ten runs: five of about a quarter of a second, five of less.
LOOKS = PositionBased(examination=[1.0, 0.5], click=[0.0, 0.1, 0.2, 0.5, 1.0])
BANDITS = ("MergeDTS(alpha=200)", "Uniform")


@dataclass
class Cluster:
    """A scheduler and its workers, one thread each."""

    folder: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    @property
    def address(self) -> str:
        return str(json.loads((self.folder / "scheduler.json").read_text())["address"])

    def add_worker(self) -> None:
        options = ("--scheduler-file", "scheduler.json", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1")
        self.workers.append(self._start("dask_worker", *options, "--no-dashboard", "--local-directory", "spill"))

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.{what}", *options]
        path = os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": path}
            )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "greedy.py").write_text(GREEDY)
    (folder / "steps.py").write_text(STEPS)
    made = Cluster(folder, None, [])  # type: ignore[arg-type]
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "scheduler.json")
    made.scheduler = made._start("dask_scheduler", *options)
    try:
        deadline = time.monotonic() + 30
        while not (folder / "scheduler.json").exists() or not (folder / "scheduler.json").read_text().endswith("}"):
            assert time.monotonic() < deadline, (folder / "dask_scheduler.log").read_text()
            time.sleep(0.05)
        made.add_worker()
        made.add_worker()
        yield made
    finally:
        for process in [*made.workers, made.scheduler]:
            process.kill()
            process.wait()


def results(experiment: Experiment, folder: Path, **engine: Any) -> bytes:
    """The npz of all numbers."""
    Results(experiment, execute(experiment.units, Store(folder), **engine)).save(folder / "all.npz")
    return (folder / "all.npz").read_bytes()


def test_a_worker_dies_and_nothing_changes(cluster: Cluster, tmp_path: Path) -> None:
    plan = Experiment("cycle2", rd.problems.cycle2(), BANDITS, horizon=400_000, runs=5)
    expected = results(plan, tmp_path / "local", jobs=2)
    seen: list[Progress] = []
    victim = cluster.workers[0]

    def kill(progress: Progress) -> None:
        seen.append(progress)
        if progress.done >= 2 and victim.poll() is None:
            victim.kill()

    assert results(plan, tmp_path / "dask", engine="dask", address=cluster.address, watch=kill) == expected
    assert victim.wait() == -9
    assert (seen[-1].done, seen[-1].share, seen[-1].seconds_left) == (10, 1.0, 0.0)
    for name in ("done", "duels"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(values)
    assert any(progress.running for progress in seen)
    assert not any(progress.running for progress in (seen[0], seen[-1]))
    cluster.add_worker()
    # What is stored is not computed again, whoever computed it: there is no scheduler at this address.
    assert results(plan, tmp_path / "dask", engine="dask", address="tcp://127.0.0.1:1") == expected


def test_search_worlds_and_own_bandits(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(cluster.folder)
    forget()
    world = rd.SearchWorld(rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1), clicks="perfect")
    plan = Experiment("world", world, ("MergeDTS", "MultiUCB", "greedy:Greedy"), horizon=300, runs=2)
    dask = results(plan, tmp_path / "dask", engine="dask", address=cluster.address)
    assert dask == results(plan, tmp_path / "local")

    # Workers go on with what they have imported, whatever the file says by then, and are found out.
    (cluster.folder / "steps.py").write_text("STEP = 2\n")
    forget()
    other = Experiment("world", world, ("greedy:Greedy",), horizon=300, runs=1)
    with pytest.raises(RuntimeError, match="a worker has another version of rankduel, or of greedy:Greedy"):
        results(other, tmp_path / "other", engine="dask", address=cluster.address)


def test_ctrl_c_frees_the_workers(cluster: Cluster, tmp_path: Path) -> None:
    endless = ["simulate", "cycle2", "--horizon", "1e13", "--runs", "1", "--engine", "dask", "--address"]
    endless += [cluster.address, "--bandit", "MergeDTS"]  # which ends when it has a winner
    assert run(*endless, cwd=tmp_path).returncode == 0
    with (
        Client(cluster.address, set_as_default=False) as client,
        start(*endless, "--bandit=Uniform", cwd=tmp_path) as process,
    ):
        until(lambda: "rankduel" in str(client.processing()), process)
        process.send_signal(2)
        stderr = process.communicate(timeout=30)[1]
        assert process.returncode == 130, stderr
        assert "interrupted: 1 of 2 runs are stored in results\n" in stderr
        assert "Traceback" not in stderr
        deadline = time.monotonic() + 20
        while "rankduel" in str(client.processing()):
            assert time.monotonic() < deadline, client.processing()
            time.sleep(0.05)
    plan = ("simulate", "cycle2", "--horizon", "1e4", "--runs", "2", "--engine", "dask", "--address", cluster.address)
    done = run(*plan, cwd=tmp_path, without="matplotlib")  # and they have time for others
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "dask"), "error: --engine dask needs the address of the scheduler"),
        (("--address", "tcp://127.0.0.1:1"), "error: --address tcp://127.0.0.1:1 needs --engine dask"),
        (("--engine", "spark"), "error: argument --engine: invalid choice: 'spark'"),
    ],
)
def test_wrong_options(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    refused = run("simulate", "cycle2", *options, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_without_dask_the_extra_is_named(tmp_path: Path) -> None:
    options = ("--horizon", "10", "--engine", "dask", "--address", "tcp://127.0.0.1:1")
    refused = run("simulate", "cycle2", *options, cwd=tmp_path, without="distributed")
    assert refused.returncode == 2
    assert "pip install 'rankduel[dask]'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_problems_survive_the_journey() -> None:
    collection = rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1)
    worlds = [rd.SearchWorld(collection, clicks=clicks) for clicks in CLICKS]
    worlds += [rd.SearchWorld(collection, interleaving=method) for method in INTERLEAVINGS]
    worlds += [rd.SearchWorld(collection, multileaving=method) for method in MULTILEAVINGS]
    worlds += [rd.SearchWorld(collection, clicks=RandomUser(0.3)), rd.SearchWorld(collection, clicks=LOOKS)]
    problems: list[Problem] = [rd.problems.cycle2(), rd.problems.utilities(10), *worlds]
    for problem in problems:
        again = pickle.loads(pickle.dumps(problem))
        vars(again).pop("fingerprint", None)  # made again of what has arrived
        assert again.fingerprint == problem.fingerprint
