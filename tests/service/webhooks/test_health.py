"""Changes of the health light become messages once they have settled."""

import itertools
from pathlib import Path

import pytest

from rankduel.errors import StorageError
from rankduel.live import LocalTournament
from rankduel.service.webhooks import health
from rankduel.service.webhooks.health import HealthWatch


class Watched:
    """A tournament whose health light a test sets, and a watch with a clock of the test."""

    def __init__(self, t: LocalTournament, monkeypatch: pytest.MonkeyPatch) -> None:
        self.t, self.broken, self.time = t, dict[str, str](), 0.0
        monkeypatch.setattr(health, "monotonic", lambda: self.time)
        self.watch = HealthWatch(lambda: {t.name: t}, lambda: self.broken)

    def after(self, seconds: float) -> list[tuple[str, str]]:
        """The tournament and colour of each message, after more seconds."""
        self.time += seconds
        return [(message.tournament, message.more["health"]) for message in self.watch.changes()]

    def fail(self, *, failing: bool = True) -> None:
        self.t._runtime.failure = StorageError("the bandit has failed") if failing else None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    t = LocalTournament.create("home", rankers=["a", "b"], storage=f"sqlite:///{tmp_path}/duels.db", baseline="a")
    return Watched(t, monkeypatch)


def test_yellow_red_and_green_again(home: Watched) -> None:
    assert home.after(100) == []  # it is green at the start
    home.t.pause("a holiday", by="anna")
    assert [home.after(5), home.after(24)] == [[], []]
    assert home.after(7) == [("home", "yellow")]
    assert home.after(100) == []
    home.fail()
    assert [home.after(5), home.after(31)] == [[], [("home", "red")]]
    home.fail(failing=False)
    home.t.start()
    assert [home.after(5), home.after(31), home.after(100)] == [[], [("home", "green")], []]


def test_the_reasons(home: Watched) -> None:
    home.t.pause("a holiday", by="anna")
    home.after(0)
    home.time = 31
    (message,) = home.watch.changes()
    assert message.kind == "health"
    assert message.event is None
    assert message.headline.startswith("The health light is yellow: Paused by anna: a holiday. Users see")
    assert message.more["reasons"] == [message.headline.partition(": ")[2]]
    home.t.start()
    home.after(0)
    home.time = 62
    (message,) = home.watch.changes()
    assert message.headline == "The health light is green again."


def test_a_light_that_flickers_is_not_reported(home: Watched) -> None:
    for failing in itertools.islice(itertools.cycle([True, False]), 20):
        home.fail(failing=failing)
        assert home.after(20) == []
    home.t.pause()
    home.fail()
    assert home.after(20) == []  # red for 20 seconds
    home.fail(failing=False)
    assert home.after(20) == []  # then yellow: the 30 seconds begin anew
    assert home.after(29) == []
    assert home.after(2) == [("home", "yellow")]


def test_a_tournament_that_cannot_be_opened(home: Watched) -> None:
    home.broken = {"cart": "event 7 cannot be replayed"}
    assert [home.after(0), home.after(31)] == [[], [("cart", "red")]]
    home.broken = {}
    assert home.after(100) == []  # it is gone, or it is open and its own light counts
