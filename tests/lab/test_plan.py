import dataclasses
import re

import pytest

import rankduel as rd
from rankduel.lab import Experiment, Unit, normal_form, problem_from


def experiment(**changes: object) -> Experiment:
    options: dict[str, object] = {"bandits": ("MergeDTS", "Uniform"), "horizon": 1000, "runs": 3}
    return Experiment("cycle2", **{"problem": rd.problems.cycle2()} | options | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", rd.REGISTRY)
def test_a_normal_form_is_its_own_and_makes_the_same_bandit(name: str) -> None:
    normal = normal_form(name, 20)
    assert normal_form(normal, 20) == normal
    assert repr(rd.bandit_from(normal, 20, seed=1)) == repr(rd.bandit_from(name, 20, seed=1))


def test_units_go_run_by_run() -> None:
    units = experiment().units
    assert [unit.index for unit in units] == [0, 0, 1, 1, 2, 2]
    assert {unit.bandit for unit in units[::2]} == {normal_form("MergeDTS", 20)}


def test_a_unit_is_that_run_of_simulate_runs() -> None:
    plan = experiment(seed=5)
    runs = rd.simulate_runs("MergeDTS", plan.problem, horizon=1000, runs=3, seed=5)
    for unit, run in zip(plan.units[::2], runs, strict=True):
        played = unit.play()
        assert played.bandit == run.bandit
        assert played.regret.tolist() == run.regret.tolist()


def test_all_that_decides_a_result_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = experiment().units[0]
    keys = {unit.key}
    changes: dict[str, object] = {
        "problem": rd.problems.cycle(),
        "bandit": normal_form("MergeDTS(c=4000000.5)", 20),
        "horizon": 1001,
        "checkpoints": unit.checkpoints[1:],
        "kind": "weak",
        "seed": 1,
        "index": 1,
        "delay": rd.delays.Fixed(5),
    }
    assert changes.keys() == {field.name for field in dataclasses.fields(Unit)}
    keys |= {dataclasses.replace(unit, **{name: value}).key for name, value in changes.items()}  # type: ignore[arg-type]
    monkeypatch.setattr(rd, "__version__", "99")
    keys.add(dataclasses.replace(unit).key)
    assert len(keys) == 10


def test_another_delay_is_another_run() -> None:
    every = [None, rd.delays.Fixed(5), rd.delays.Fixed(6), rd.delays.Geometric(5), rd.delays.Fixed(5, in_flight=3)]
    assert len({experiment(delay=delay).units[0].key for delay in every}) == len(every)
    late = experiment(delay=rd.delays.Fixed(500)).units[0].play()
    assert late.regret.tolist() != experiment().units[0].play().regret.tolist()
    (again,) = rd.simulate_runs("MergeDTS", rd.problems.cycle2(), horizon=1000, runs=1, delay="Fixed(duels=500)")
    assert late.regret.tolist() == again.regret.tolist()


def test_many_rankers_on_a_page_are_never_late() -> None:
    world = rd.SearchWorld(rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1))
    with pytest.raises(ValueError, match=r"MultiUCB does not support late outcomes, got delay Fixed\(duels=5\)"):
        experiment(problem=world, bandits=("MultiUCB",), delay=rd.delays.Fixed(5))


def test_the_key_is_the_same_in_every_process() -> None:
    unit = experiment().units[0]
    typed = experiment(bandits=(" MergeDTS( batch_size = 16,c=4_000_000 )",)).units[0]
    assert typed.key == unit.key
    monday = Unit(unit.problem, "MergeDTS()", 10, (1, 10), "average", 0, 0)
    assert re.fullmatch("[0-9a-f]{64}", monday.key)
    assert monday.key == dataclasses.replace(monday).key


def test_a_file_name_tells_the_problem_and_is_safe() -> None:
    odd = dataclasses.replace(experiment(), name="../bradley_terry(n_arms=5, seed=3)")
    assert re.fullmatch(r"bradley_terry-n_arms-5-seed-3-[0-9a-f]{8}", odd.file_name)
    assert odd.file_name != dataclasses.replace(odd, runs=4).file_name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number from 1 to 1e+15, got 0"),
        ({"runs": 0}, "runs must be a whole number from 1 to 1e+06, got 0"),
        ({"seed": -1}, "seed must be a whole number at least 0, got -1"),
        ({"bandits": ()}, "no bandits given; an experiment needs at least one"),
        ({"bandits": ("RUCB", "DTS", "RUCB()")}, "RUCB is given 2 times, as RUCB(alpha=0.51); give it once"),
        ({"bandits": ("Nobody",)}, "unknown bandit 'Nobody'"),
        ({"kind": "odd"}, "kind must be one of average, weak, strong, copeland, got 'odd'"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_computed(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        experiment(**changes)


def test_a_named_problem_comes_before_a_file() -> None:
    assert problem_from("cycle2") == ("cycle2", rd.problems.cycle2())
    with pytest.raises(ValueError, match="unknown problem 'cycle3': expected a matrix file or one of cycle, cycle2"):
        problem_from("cycle3")
