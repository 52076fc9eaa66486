"""A storage in an empty folder, and a clock that tests can set."""

from pathlib import Path

import pytest


class Clock:
    """The time that tournaments see."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("runtime.runtime", "local_tournament"):
        monkeypatch.setattr(f"rankduel.live.{module}.now", clock)
    return clock
