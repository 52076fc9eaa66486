"""Pending asks by themselves: which duels are taken for a commit, and when."""

import pytest

from rankduel.live.rules.duels import DuelRow
from rankduel.live.storage.contract import Entry, ExpireDue, Tell
from rankduel.live.storage.pending_asks import PendingAsks

PERIOD = 0.05  # seconds


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr("rankduel.live.storage.pending_asks.monotonic", time)
    return time


def row(number: int) -> DuelRow:
    return DuelRow(1, number, None, None, 0, 1, None, None, issued=0.0, expires=60.0)


def due(pending: PendingAsks) -> list[Entry]:
    taken: dict[str, list[Entry]] = {}
    pending.take_due(taken)
    return taken.get("x", [])


@pytest.mark.parametrize("commits", [[0.051, 0.101], [0.099, 0.1001], [0.3], [0.01, 0.3], [0.06, 0.12]])
def test_a_duel_is_in_the_first_commit_that_begins_two_periods_after_it(time: Time, commits: list[float]) -> None:
    pending = PendingAsks(PERIOD)
    pending.put("x", [row(1)])
    for commit in commits[:-1]:
        time.now = 100 + commit
        assert due(pending) == []
    time.now = 100 + commits[-1]
    assert due(pending) == [row(1)]
    assert len(pending) == 0


def test_a_slow_commit_delays_no_duel_twice(time: Time) -> None:
    pending = PendingAsks(PERIOD)
    pending.put("x", [row(1)])
    time.now += 0.001
    assert due(pending) == []
    pending.put("x", [row(2)])  # while that commit takes a second
    time.now += 1.0
    assert due(pending) == [row(1), row(2)]


def test_only_the_named_duels_are_taken_before(time: Time) -> None:
    pending = PendingAsks(PERIOD)
    pending.put("x", [row(1), row(2)])
    pending.put("y", [row(1)])
    taken: dict[str, list[Entry]] = {}
    pending.take_named([("x", [Tell(1, 2, None, "tie", 1.0)])], taken)
    assert taken == {"x": [row(2)]}
    pending.take_named([("y", [ExpireDue(1.0)])], taken)  # this may mean any
    assert taken == {"x": [row(2), row(1)], "y": [row(1)]}


def test_there_is_nothing_to_wait_for(time: Time) -> None:
    pending = PendingAsks(PERIOD)
    assert pending.seconds_left is None
    pending.put("x", [row(1)])
    assert pending.seconds_left == pytest.approx(PERIOD)
