"""Before a live tournament: what a forecast is made of, what it says, and what it refuses."""

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankduel as rd
from rankduel.lab.forecast import _spread

SMALL: dict[str, Any] = {"daily_duels": 10_000, "runs": 12, "horizon": 10**6}


@pytest.fixture(scope="module")
def forecast() -> rd.Forecast:
    return rd.plan(
        problem="cycle2", bandit="MergeDTS", delay="Geometric(mean=2000, in_flight=1500)", deadline=2, jobs=2, **SMALL
    )


def test_the_figures_are_those_of_the_runs(forecast: rd.Forecast) -> None:
    problem = rd.problems.cycle2()
    for outlook, delay in ((forecast.late, forecast.delay), (forecast.prompt, None)):
        assert outlook is not None
        runs = rd.simulate_runs("MergeDTS", problem, horizon=10**6, runs=12, delay=delay)
        ends = sorted(run.converged_at for run in runs if run.converged_at is not None)
        assert outlook.ended == len(ends) == 12
        assert (outlook.duels.p10, outlook.duels.p50, outlook.duels.p90) == (
            ends[1],
            ends[5],
            ends[10],
        )
        assert outlook.duels.mean == pytest.approx(np.mean(ends))
        assert outlook.duels.error == pytest.approx(np.std(ends, ddof=1) / math.sqrt(12))
        assert outlook.days.p50 == ends[5] / 10_000
        assert outlook.in_time == sum(end <= 20_000 for end in ends)
        assert outlook.right == sum(run.winner == 0 for run in runs) == 12
        assert outlook.regret.mean == pytest.approx(np.mean([run.regret[-1] for run in runs]))
        assert outlook.waited == pytest.approx(sum(run.waited for run in runs) / sum(ends))
    assert forecast.expected is forecast.late
    assert 0 < forecast.prompt.in_time < 12


def test_the_price_of_delay(forecast: rd.Forecast) -> None:
    assert forecast.late is not None
    late, prompt = forecast.late.regret, forecast.prompt.regret
    assert late.mean is not None
    assert prompt.mean is not None
    price = forecast.price("regret")
    assert price is not None
    assert price[0] == pytest.approx(late.mean / prompt.mean - 1)
    assert 0 < price[1] < price[0] < 3
    assert rd.plan(problem="cycle2", **SMALL | {"runs": 2}).price("regret") is None


def test_regret_ends_with_the_tournament_even_if_the_wrong_one_wins() -> None:
    """A reckless bandit on Cycle, where all gaps are 0.01: half a hundredth to one for each duel, and no more."""
    told = rd.plan(problem="cycle", bandit="MergeDTS(alpha=0.01, c=1.0)", **SMALL)
    assert told.prompt.ended == 12
    assert told.prompt.right < 12
    assert told.prompt.regret.mean is not None
    assert told.prompt.duels.mean is not None
    assert told.prompt.regret.mean <= 0.01 * told.prompt.duels.mean


def test_the_same_numbers_however_they_are_computed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"bandit": "MergeRUCB", "delay": "Fixed(duels=50)", "runs": 6, "seed": 3}
    once = rd.plan(8, out=tmp_path, **options)
    assert len(list((tmp_path / "runs").glob("*.json"))) == 12
    seen: list[int] = []
    again = rd.plan(8, out=tmp_path, jobs=2, watch=lambda progress: seen.append(progress.reused), **options)
    assert seen == [12]
    assert once == again
    assert once != rd.plan(8, **options | {"seed": 4})


def test_stand_ins_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    web_search = rd.problems.web_search

    def spy(n_arms: int, *, seed: int) -> rd.PreferenceMatrix:
        made.append(seed)
        return web_search(n_arms, seed=seed)

    monkeypatch.setattr(rd.problems, "web_search", spy)
    told = rd.plan(4, runs=12, horizon=100)
    assert made == list(range(10))
    assert told.n_rankers == 4
    assert told.problem == "synthetic web search"


def test_without_an_end_nothing_is_made_up() -> None:
    told = rd.plan(5, bandit="Uniform", runs=3, horizon=1000)
    assert (told.prompt.ended, told.prompt.in_time, told.prompt.right) == (0, 0, 0)
    assert dataclasses.asdict(told.prompt.regret) == dict.fromkeys(("mean", "error", "p10", "p50", "p90"))
    assert "> 1e+03" in str(told)
    assert "(another ranker: 0, no winner: 3)" in str(told)


def test_a_few_endless_runs_leave_the_other_percentiles() -> None:
    spread = _spread(np.array([3.0, 1.0, 2.0, math.inf, 5.0]))
    assert (spread.mean, spread.error, spread.p10, spread.p50, spread.p90) == (None, None, 1.0, 3.0, None)


class Careful(rd.Uniform):
    """Has the option that certified bandits have."""

    def __init__(self, n_arms: int, *, delta: float = 0.5, seed: int | None = None) -> None:
        rd.Bandit.__init__(self, n_arms, seed=seed, delta=delta)
        self.n_alive = 1


@pytest.mark.parametrize(("typed", "delta"), [("Careful", 0.01), ("Careful(delta=0.2)", 0.2), ("MergeDTS", None)])
def test_delta_goes_to_bandits_that_have_it(typed: str, delta: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rd.REGISTRY, "Careful", Careful)
    told = rd.plan(4, bandit=typed, runs=1, horizon=10)
    assert told.delta == delta
    assert ("guarantee:         none" in str(told)) is (delta is None)


def test_it_reads_well(forecast: rd.Forecast) -> None:
    text = str(forecast)
    assert text.startswith("cycle2: 20 rankers, 10,000 duels a day; 12 runs, seed 0\nMergeDTS(alpha=")
    assert re.search(r"cost of delay: +\+\d+% ± \d+% duels, \+\d+% ± \d+% regret", text)
    assert re.search(r"without a duel: +\d+\.\d% of the pages", text)
    assert re.search(r"within 2 days: +\d+ of 12 runs ended", text)
    assert "best ranker won:   12 of 12 runs (another ranker: 0, no winner: 0)" in text
    assert max(map(len, text.splitlines())) < 100
    assert json.loads(json.dumps(dataclasses.asdict(forecast)))["late"]["ended"] == 12
    assert [(row["delay"], row["quantity"]) for row in forecast.rows()] == [
        (delay, quantity) for delay in (forecast.delay, None) for quantity in ("duels", "days", "regret")
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_rankers must be a whole number from 2 to 5000, got None"),
        ({"n_rankers": 1}, "n_rankers must be a whole number from 2 to 5000, got 1"),
        ({"n_rankers": 2.5}, "n_rankers must be a whole number from 2 to 5000, got 2.5"),
        ({"n_rankers": 9, "delta": 0}, "delta must be above 0 and below 1, got 0"),
        ({"n_rankers": 9, "daily_duels": 0}, "daily_duels must be a whole number of at least 1, got 0"),
        ({"n_rankers": 9, "runs": 0}, "runs must be a whole number of at least 1, got 0"),
        ({"n_rankers": 9, "horizon": 1.5}, "horizon must be a whole number of at least 1, got 1.5"),
        ({"n_rankers": 9, "deadline": -1}, "deadline must be above 0 days, got -1"),
        ({"n_rankers": 9, "delay": "Soon"}, "unknown delay 'Soon'"),
        ({"n_rankers": 9, "bandit": "MultiUCB"}, "unknown bandit 'MultiUCB'"),
        ({"n_rankers": 9, "problem": "cycle2"}, "cycle2 has 20 rankers, got n_rankers=9"),
        ({"problem": "two_winners"}, "two_winners has no Condorcet winner; plan needs a ranker that beats all others"),
        ({"problem": "nowhere.npz"}, "unknown problem 'nowhere.npz'"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        rd.plan(**options)  # type: ignore[arg-type]


def test_only_preferences_are_planned_for() -> None:
    world = rd.SearchWorld(rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1))
    with pytest.raises(
        TypeError, match="problem must be a PreferenceMatrix, Utilities, a named problem or a matrix file"
    ):
        rd.plan(problem=world)  # type: ignore[arg-type]
