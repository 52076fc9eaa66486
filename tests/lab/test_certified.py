"""The experiments on certified bandits: they are sound, and their tables say what was measured."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rankduel as rd
from rankduel.lab import Measured, Series, Study, certified_specs, run
from rankduel.lab.certified_tables import (
    delta_of,
    final_regret,
    guarantee_table,
    oracle_regret,
    regret_table,
    regret_until,
    upper_limit,
)
from rankduel.lab.report import panel_tables
from rankduel.lab.sources import Sources
from rankduel.lab.specs import SCALES

SPEC = """
horizon = 30_000
runs = 3
table = { kind = "oracle" }

[[part]]
panel = "{problem} with a panel of its own"
problem = "{problem}"
sweep = { problem = ["cycle2", "random_tournament(n_arms=6, winner=0.7)"] }
bandits = ["CertifiedSparring(delta=0.05)", "Uniform"]
"""


@pytest.mark.parametrize("name", [name for name in certified_specs() if name != "certified-matrices"])
def test_the_specs_name_bandits_and_problems_that_exist(name: str) -> None:
    spec = certified_specs()[name]
    assert spec.title
    assert spec.question.endswith("?")
    sources = Sources(None)
    for scale in SCALES:
        experiments = spec.experiments(scale, sources)
        assert len({each.name for each in experiments}) == len(experiments)


def test_a_matrix_is_found_in_the_folder_of_data(tmp_path: Path) -> None:
    spec = certified_specs()["certified-matrices"]
    with pytest.raises(ValueError, match=r"no file 'matrices/.*\.npz' in the data folder"):
        spec.experiments("smoke", Sources(None))
    (tmp_path / "matrices").mkdir()
    for matrix in spec.parts[0].sweep["matrix"]:
        rd.problems.cycle2().save(tmp_path / "matrices" / f"{matrix}.npz")
    each = spec.experiments("smoke", Sources(tmp_path))[0]
    assert (each.source.title, each.source.origin) == (each.panel, "data")
    assert each.source.description == f"data: {each.panel}.npz"
    assert each.experiment.problem == rd.problems.cycle2()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("certified")
    (folder / "mine.toml").write_text(SPEC)
    return run(folder / "mine.toml", out=folder / "out")


def test_a_panel_for_each_problem(study: Study) -> None:
    tables = list(panel_tables(study))
    assert [table.title for table in tables] == [
        "cycle2 with a panel of its own",
        "random_tournament(n_arms=6, winner=0.7) with a panel of its own",
    ]
    assert [row[0] for row in tables[0].rows] == ["CertifiedSparring(delta=0.05)", "Uniform"]


def test_the_bound_stands_beside_the_regret(study: Study) -> None:
    (measured, _) = study.measured.values()
    certified, uniform = measured.series.values()
    bound = rd.oracle_bound(rd.problems.cycle2(), 0.05)
    assert oracle_regret(measured, 0.05) == pytest.approx(bound)
    assert (delta_of(certified), delta_of(uniform)) == (0.05, 0.01)
    table = regret_table("", [measured])
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert row["bound"] == f"{bound:,.0f}"
    end = certified.regret[:, -1].mean()
    assert row["final regret"].startswith(f"{end:,.0f} ± ")
    assert row["final / bound"] == f"{end / bound:.3g}"
    assert row["regret at 1e4"].startswith(
        f"{np.mean([np.interp(1e4, certified.checkpoints, r) for r in certified.regret]):,.0f}"
    )
    assert "regret at 1e5" not in row
    endless = dict(zip(table.head, table.rows[1], strict=True))
    assert (endless["final regret"], endless["final / bound"], endless["converged at (median)"]) == ("-", "-", "-")


def test_regret_beyond_the_horizon_is_known_only_of_runs_that_ended(study: Study) -> None:
    certified, uniform = next(iter(study.measured.values())).series.values()
    assert regret_until(uniform, 10**5) is None
    assert final_regret(uniform) is None
    assert regret_until(certified, 10**5) is not None
    some = replace(certified, converged_at=np.array([5000, -1, 4000]))
    assert regret_until(some, 10**5) is None
    assert final_regret(some) is None


def _series(best_left: list[int], left: list[int], converged_at: list[int]) -> Series:
    runs, none = len(left), np.zeros(len(left), np.int64)
    return Series(
        label="A",
        spec="A(delta=0.1)",
        setting={},
        horizon=1000,
        checkpoints=np.array([1000]),
        regret=np.zeros((runs, 1)),
        measures={},
        winner=none,
        champion=none,
        converged_at=np.array(converged_at),
        left=np.array(left),
        best_left=np.array(best_left),
        computed=none,
        cpu_seconds=np.zeros(runs),
    )


def test_the_promise_counts_runs_that_lost_any_of_the_best() -> None:
    """Of two best arms: both end together, one is lost, both are there with a third, both go on, both are lost."""
    series = _series([2, 1, 2, 2, 0], [2, 1, 3, 2, 1], [500, 600, 700, -1, 650])
    table = guarantee_table("", [Measured({"n_best": 2, "delay": None, "problem": "two"}, {"A": series})])
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert (row["a best arm eliminated"], row["share"], row["all best arms eliminated"]) == ("2", "40.00%", "1")
    assert row["exactly the best arms left"] == "1"
    assert row["converged at (median)"] == "650"


@pytest.mark.parametrize(("times", "runs"), [(0, 20), (3, 20), (19, 20), (20, 20), (0, 10_000), (437, 10_000)])
def test_the_highest_chance_is_clopper_and_pearsons(times: int, runs: int) -> None:
    expected = 1.0 if times == runs else stats.beta.ppf(0.95, times + 1, runs - times)
    assert upper_limit(times, runs) == pytest.approx(expected, rel=1e-6)
