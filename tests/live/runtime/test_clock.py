"""The clock of tournaments: steps are followed, jumps are not, and are logged once."""

import logging

import pytest

from rankduel.live.runtime import clock as module
from rankduel.live.runtime.clock import Clock, behind

DAY = 86_400.0


class World:
    """The clock of a machine, which can be set, and its steady one, which cannot."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_800_000_000.0, 50.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(module, "time", lambda: world.wall)
    monkeypatch.setattr(module, "_steady", lambda: world.steady)
    return world


def test_time_passes(world: World) -> None:
    clock = Clock()
    for seconds in (0.1, 100.0, 30 * DAY):
        world.passes(seconds)
        assert clock.now() == world.wall
    assert (clock.jump, clock.warning) == (0.0, None)


@pytest.mark.parametrize("step", [0.5, 59.0, -0.5, -59.0])
def test_small_steps_are_followed(world: World, step: float) -> None:
    clock = Clock()
    for _ in range(10):
        world.wall += step
        world.passes(1.0)
        assert clock.now() == world.wall
    assert clock.jump == 0.0


@pytest.mark.parametrize(
    ("jump", "said"), [(3 * DAY, "ahead by 3 days"), (-7200.0, "back by 2 hours"), (61.0, "ahead")]
)
def test_a_jump_is_ignored_until_it_is_undone(
    world: World, caplog: pytest.LogCaptureFixture, jump: float, said: str
) -> None:
    caplog.set_level(logging.INFO, "rankduel")
    clock = Clock()
    begun = clock.now()
    world.wall += jump
    for number in range(1, 100):
        world.passes(10.0)
        assert clock.now() == pytest.approx(begun + 10.0 * number)
    assert clock.jump == pytest.approx(jump)
    assert clock.warning is not None
    assert f"The clock jumped {said}" in clock.warning
    world.wall -= jump
    assert clock.now() == world.wall
    assert clock.warning is None
    assert [record.message for record in caplog.records][1:] == ["The clock is right again."]


def test_another_jump_is_logged_again(world: World, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    begun = clock.now()
    for jump in (DAY, DAY, -5 * DAY):
        world.wall += jump
        assert (clock.now(), clock.now()) == (begun, begun)
    assert [text.split(". ")[0] for text in caplog.messages] == [
        "The clock jumped ahead by 1 day",
        "The clock jumped ahead by 2 days",
        "The clock jumped back by 3 days",
    ]


def test_a_last_event_in_the_future() -> None:
    assert behind(1000.0, 1000.0) is behind(1059.0, 1000.0) is behind(0.0, 1000.0) is None
    assert "The last event is 2 minutes in the future" in str(behind(1120.0, 1000.0))
