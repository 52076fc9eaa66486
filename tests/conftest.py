"""Examples that are the same in every run; the real data and a database server, where they are at hand."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from postgres.server import Server, running
from rankduel.preferences import PreferenceMatrix

HERE = Path(__file__).resolve()

# What passed here passes everywhere; `pytest --hypothesis-profile search` looks for new examples.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("same")

# `make quick` leaves out these folders, at any depth, tests with these fixtures, and tests marked @pytest.mark.slow.
SLOW_FOLDERS = {
    "attack", "benchmarks", "crash", "dashboard", "docs", "examples", "fidelity", "lab", "packaging", "postgres",
    "property", "statistical",
}  # fmt: skip
SLOW_FIXTURES = {"browser", "kernel", "postgres"}  # start a browser or a database server, or compile


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, even if a background job ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folders = item.path.relative_to(HERE.parent).parts[:-1]
        if SLOW_FOLDERS.intersection(folders) or SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def real_data(kind: str) -> Path:
    """The folder of real data of a kind, or skip the test and say why."""
    folders = [os.environ.get("RANKDUEL_DATA"), HERE.parents[1].parent / "shared" / "data"]
    found = [Path(folder) for folder in folders if folder and (Path(folder) / kind).is_dir()]
    if not found:
        pytest.skip("no folder of real data: neither RANKDUEL_DATA nor ../shared/data")
    return found[0] / kind


@pytest.fixture
def real_matrix() -> Callable[[str], PreferenceMatrix]:
    """Load one of the real matrices by name, or skip the test and say why."""
    return lambda name: PreferenceMatrix.load(real_data("matrices") / f"{name}.npz")


@pytest.fixture
def real_collection() -> Callable[[str], Path]:
    """The path of one of the real learning-to-rank collections, or skip the test and say why."""
    return lambda name: real_data("ltr") / name


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, or skip the test and say why."""
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the cache of whoever runs it."""
    monkeypatch.setenv("RANKDUEL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
