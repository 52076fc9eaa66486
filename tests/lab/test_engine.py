import dataclasses
import time
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.lab import Experiment, Progress, Store, Unit, execute
from rankduel.simulation import Watch


@pytest.fixture
def plan() -> Experiment:
    return Experiment("cycle2", rd.problems.cycle2(), ("MergeDTS", "Uniform"), horizon=20_000, runs=5)


def curves(runs: list[rd.Run]) -> list[list[float]]:
    return [run.regret.tolist() for run in runs]


def test_threads_change_nothing(tmp_path: Path, plan: Experiment) -> None:
    expected = curves([unit.play() for unit in plan.units])
    for jobs in (1, 2, 7):
        assert curves(execute(plan.units, Store(tmp_path / str(jobs)), jobs=jobs)) == expected


def test_only_what_is_missing_is_computed(tmp_path: Path, plan: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    expected = curves(execute(plan.units, store))
    missing = [plan.units[3], plan.units[6]]
    for unit in missing:
        store.path(unit).unlink()
    played: list[Unit] = []
    play = Unit.play

    def spy(unit: Unit, watch: Watch | None = None) -> rd.Run:
        played.append(unit)
        return play(unit, watch)

    monkeypatch.setattr(Unit, "play", spy)
    seen: list[Progress] = []
    again = execute(plan.units, store, watch=seen.append)
    assert played == missing
    assert curves(again) == expected
    assert (seen[0].reused, seen[0].done, seen[0].duels) == (8, 8, 0)
    assert (seen[-1].reused, seen[-1].done, seen[-1].total, seen[-1].share) == (8, 10, 10, 1.0)


def test_a_unit_of_two_experiments_is_computed_once(tmp_path: Path, plan: Experiment) -> None:
    seen: list[Progress] = []
    twice = execute([*plan.units, *dataclasses.replace(plan).units], Store(tmp_path), watch=seen.append)
    assert seen[-1].total == seen[-1].done == 10
    assert curves(twice[:10]) == curves(twice[10:])


def test_progress_never_goes_back(tmp_path: Path, plan: Experiment) -> None:
    seen: list[Progress] = []
    execute(plan.units, Store(tmp_path), jobs=2, watch=seen.append)
    for name in ("done", "duels", "seconds"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(values)
    assert seen[-1].seconds_left == 0
    assert seen[-1].duels <= 10 * 20_000


def test_an_interrupt_ends_it_soon_and_keeps_what_is_finished(tmp_path: Path) -> None:
    endless = Experiment("cycle2", rd.problems.cycle2(), ("MergeDTS", "Uniform"), horizon=10**13, runs=2)
    store = Store(tmp_path)
    interrupted = 0.0

    def interrupt(progress: Progress) -> None:
        nonlocal interrupted
        if progress.done == 2:
            interrupted = time.monotonic()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(endless.units, store, jobs=2, watch=interrupt)
    assert time.monotonic() - interrupted < 5  # within 0.1 s where the machine is idle
    assert [store.read(unit) is not None for unit in endless.units] == [True, False, True, False]


def test_a_unit_that_fails_ends_it_with_its_error(tmp_path: Path, plan: Experiment) -> None:
    broken = dataclasses.replace(plan.units[0], bandit="Nobody()")
    with pytest.raises(ValueError, match="unknown bandit 'Nobody'"):
        execute([broken, *plan.units], Store(tmp_path), jobs=2)
