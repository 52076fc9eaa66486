import time

import pytest

import rankduel as rd
from rankduel.lab import Experiment
from rankduel.lab.progress import Tracker


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_the_time_left_comes_from_runs_of_the_same_bandit(clock: list[float]) -> None:
    plan = Experiment("cycle2", rd.problems.cycle2(), ("MergeDTS", "Uniform"), horizon=100_000, runs=3)
    merge, uniform, *others = plan.units
    tracker = Tracker(plan.units, jobs=2)
    assert tracker.report().seconds_left is None

    tracker.begin(merge)
    tracker.begin(uniform)
    clock[0] += 4
    tracker.advance(merge, 10_000)
    assert tracker.report().seconds_left is None  # Uniform has not moved
    tracker.advance(uniform, 50_000)
    report = tracker.report()
    assert report.share == pytest.approx((0.1 + 0.5) / 6)
    assert report.duels == 60_000
    assert report.rate == 15_000
    # MergeDTS would take 40 s a run: 36 of the first, two more; Uniform 8: 4 of the first, two more. Two threads.
    assert report.seconds_left == pytest.approx((36 + 80 + 4 + 16) / 2)

    run = merge.play()
    assert run.converged_at
    tracker.finish(merge, run)  # it converged: its runs take 4 s
    report = tracker.report()
    assert report.seconds_left == pytest.approx((8 + 4 + 16) / 2)
    assert (report.done, report.duels) == (1, 50_000 + run.converged_at)

    for unit in (uniform, *others):
        if unit is not uniform:
            tracker.begin(unit)
        tracker.finish(unit, run)
    report = tracker.report()
    assert (report.done, report.reused, report.share, report.seconds_left) == (6, 0, 1.0, 0.0)


def test_reused_runs_show_how_long_the_others_will_take(clock: list[float]) -> None:
    plan = Experiment("cycle2", rd.problems.cycle2(), ("Uniform",), horizon=1000, runs=4)
    tracker = Tracker(plan.units, jobs=8)
    run = plan.units[0].play()
    tracker.reuse(plan.units[0], run)
    report = tracker.report()
    assert (report.reused, report.done, report.duels, report.rate) == (1, 1, 0, 0)
    assert report.seconds_left == pytest.approx(run.cpu_seconds)  # three runs, each in a thread of its own


def test_silence_does_not_make_a_run_longer(clock: list[float]) -> None:
    plan = Experiment("cycle2", rd.problems.cycle2(), ("Uniform",), horizon=1000, runs=2)
    tracker = Tracker(plan.units, jobs=1)
    tracker.begin(plan.units[0])
    clock[0] += 2
    tracker.advance(plan.units[0], 100)
    clock[0] += 50  # word comes now and then, not at every report
    assert tracker.report().seconds_left == pytest.approx(18 + 20)
