"""Claims are judged by the numbers alone: good ones, bad ones, too few, and those of stand-ins."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from lab.fakes import measured, series
from rankduel.lab import CLAIMS, Measured, Series, judge, paper_specs, run
from rankduel.lab.judging import different, same_rate
from rankduel.lab.specs import Scale


def state(claim: str, studied: dict[str, dict[str, Measured]]) -> str:
    return {found.id: verdict for found, verdict in judge(studied).items()}[claim].state


def test_every_claim_is_told_apart_and_belongs_to_a_question() -> None:
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) >= 25
    assert {claim.question for claim in CLAIMS} == set(paper_specs())
    for claim in CLAIMS:
        assert re.match(r"Section \d", claim.where)


def test_only_the_questions_that_were_studied_are_judged() -> None:
    verdicts = judge({"rq1": {}})
    assert {claim.question for claim in verdicts} == {"rq1"}
    assert {verdict.state for verdict in verdicts.values()} == {"not testable here"}
    assert all("was not run" in verdict.why for verdict in verdicts.values())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([10, 11, 12], [20, 21, 22], "holds"),
        ([20, 21, 22], [10, 11, 12], "does not hold"),
        ([10, 15, 20], [12, 16, 21], "not decided here"),
        ([10], [20], "not testable here"),
    ],
)
def test_an_ordering_needs_two_standard_errors(ours: list[float], theirs: list[float], expected: str) -> None:
    part = measured(series("MergeDTS", ours), series("MergeRUCB", theirs))
    assert state("rq1-mergerucb-mslr", {"rq1": {"mslr": part}}) == expected


def test_the_margin_is_that_of_the_difference() -> None:
    # Means 0 and d, standard errors 1 and 1: the margin is 2 sqrt(2).
    sample = np.array([-1.0, 1.0])
    assert different(sample, sample + 2.82) == "not decided here"
    assert different(sample, sample + 2.84) == "holds"
    assert different(sample + 2.84, sample) == "does not hold"


def test_a_short_horizon_decides_nothing() -> None:
    part = measured(series("MergeDTS", [1, 2], horizon=10**5), series("MergeRUCB", [9, 9.5], horizon=10**5))
    verdicts = {claim.id: verdict for claim, verdict in judge({"rq1": {"mslr": part}}).items()}
    assert verdicts["rq1-mergerucb-mslr"].state == "not testable here"
    assert "100,000 duels were played" in verdicts["rq1-mergerucb-mslr"].why


@pytest.mark.parametrize(
    ("origin", "expected"), [("data", "holds"), ("sample", "holds"), ("stand-in", "not testable here")]
)
def test_a_stand_in_decides_nothing_and_its_numbers_are_told(origin: str, expected: str) -> None:
    part = measured(series("MergeDTS", [1, 2, 3]), series("MergeRUCB", [11, 12, 13]), origin=origin)
    verdicts = {claim.id: verdict for claim, verdict in judge({"rq1": {"mslr": part}}).items()}
    verdict = verdicts["rq1-mergerucb-mslr"]
    assert verdict.state == expected
    assert "MergeDTS 2 ± 0.577" in verdict.measured
    assert ("on the stand-in, the claim holds" in verdict.why) == (origin == "stand-in")


def failing(label: str, failures: int, runs: int = 100) -> Series:
    """A bandit that eliminates the best arm in so many runs."""
    left = [0] * failures + [1] * (runs - failures)
    return series(label, [1.0 + 0.01 * run for run in range(runs)], horizon=10**7, best_left=left)


@pytest.mark.parametrize(
    ("failures", "expected"), [(10, "holds"), (12, "holds"), (40, "does not hold"), (0, "does not hold")]
)
def test_failures_are_counted_as_in_the_paper(failures: int, expected: str) -> None:
    part = measured(failing("alpha=0.8**9", failures))
    assert state("rq7-failures-9", {"rq7": {"alpha-low": part}}) == expected


def test_a_bandit_that_eliminates_the_best_turns_its_claims_red() -> None:
    for failures, expected in ((0, "holds"), (30, "does not hold")):
        alphas = measured(failing("alpha=0.8**6", failures))
        sizes = [failing(f"C={c}", 5) for c in (400, 4_000, 40_000, 400_000)]
        sizes += [failing(f"C={c}", failures) for c in (4_000_000, 4_726_908)]
        copeland = measured(failing("MergeDTS", failures or 1), n_best=2)
        studied = {"rq5": {"copeland": copeland}, "rq7": {"alpha-low": alphas, "c": measured(*sizes)}}
        for claim in ("rq7-failures-6", "rq7-smallest-c", "rq5-lost"):
            assert state(claim, studied) == expected, claim


def test_fishers_test() -> None:
    # By hand: 0 of 50 against 5 of 50 has a two-sided chance of 2 * C(50, 5) / C(100, 5) = 0.0563.
    assert same_rate(0, 50, 5, 50) == "holds"
    assert same_rate(0, 50, 6, 50) == "does not hold"  # 0.0267
    assert same_rate(0, 49, 6, 50) == "not testable here"


def test_a_bandit_that_plays_at_random_turns_its_claims_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What somebody has as MSLR-Navigational, played by two bandits at a scale that decides.
    rd.problems.web_search().save(tmp_path / "mslr_navigational.npz")
    spec = paper_specs()["rq1"]
    part = dataclasses.replace(spec.parts[0], bandits=("MergeDTS", "MergeRUCB"))
    spec = dataclasses.replace(spec, parts=(part,), scales={"decisive": Scale(2_000_000, 4)})

    def found() -> dict[str, str]:
        study = run(spec, scale="decisive", out=tmp_path, data=tmp_path)
        verdicts = judge({"rq1": study.measured})
        return {claim.id: verdict.state for claim, verdict in verdicts.items()}

    assert found()["rq1-mergerucb-mslr"] == "holds"
    monkeypatch.setitem(rd.REGISTRY, "MergeDTS", type("MergeDTS", (rd.Uniform,), {}))
    assert found()["rq1-mergerucb-mslr"] == "does not hold"
    assert found()["rq1-twice"] == "does not hold"


def test_growth_of_time_is_judged_at_equal_horizons() -> None:
    few, many = (measured(series("DTS", [1.0, 1.0], horizon=10**5)) for _ in range(2))
    many.series["DTS"].cpu_seconds[:] = (700 / 136) ** 2
    assert state("rq2-quadratic", {"rq2": {"equal-136": few, "equal-700": many}}) == "holds"
    many.series["DTS"].cpu_seconds[:] = 700 / 136
    assert state("rq2-quadratic", {"rq2": {"equal-136": few, "equal-700": many}}) == "does not hold"


@pytest.mark.parametrize(
    ("horizon", "seconds", "expected"),
    [(10**8, 10.1, "holds"), (10**8, 3.0, "does not hold"), (10**6, 10.1, "not testable here")],
)
def test_who_is_slow_is_judged_by_the_papers_horizon(horizon: int, seconds: float, expected: str) -> None:
    names = ("DTS", "SelfSparring", "RMED1", "REX3", "MergeRUCB", "MergeDTS")
    part = measured(*(series(name, [1.0, 1.0], horizon=horizon) for name in names))
    part.series["DTS"].cpu_seconds[:] = seconds
    assert state("rq2-dts", {"rq2": {"mslr": part}}) == expected


def test_no_failure_in_a_few_runs_does_not_refute_a_rare_one() -> None:
    sizes = [failing(f"C={c}", 0) for c in (400, 4_000, 40_000, 400_000, 4_000_000, 4_726_908)]
    assert state("rq7-smallest-c", {"rq7": {"c": measured(*sizes)}}) == "not decided here"
