"""How often the end of a tournament lies in its forecast: made at 25, 50 and 75 % of the way, and at fixed duels.

The problems are the real preference matrices, if there are any, and synthetic ones with 5 to 136 rankers. Some have
ties, up to two thirds of the duels of close rankers, and some have a tolerance. The plans of `rd.plan`, made before any
duel, are compared with the ends on the real matrices.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

import rankduel as rd
from benchmarks.problem import data
from rankduel.dashboard import Forecast, forecast

_MAX_DUELS = 1_000_000  # a tournament that is longer has no quarter of the way
_DELTA = 0.05
_TOURNAMENTS = 120
_TOLERANCES = 0.0, 0.02, 0.05  # 0: none
_TIES = 0.0, 0.3, 0.67  # of rankers that are equal. Rankers that differ tie less
_FIXED = [2_000 * 4**k for k in range(4)]  # numbers of duels
_BATCH = 4_096  # uniform numbers drawn at once
WAYS = 0.25, 0.5, 0.75
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """A tournament to play: its preferences, share of ties between equal rankers, tolerance and seed."""

    name: str
    problem: rd.PreferenceMatrix
    ties: float
    tolerance: float | None
    seed: int


class Tournament:
    """A tournament of CertifiedSparring with ties. The same case always plays the same duels."""

    def __init__(self, case: Case) -> None:
        n = case.problem.n_arms
        self.bandit = rd.CertifiedSparring(n, delta=_DELTA, tolerance=case.tolerance, seed=case.seed)
        self.counts = [[[0, 0, 0] for _ in range(n)] for _ in range(n)]  # of pairs i, j > i: wins of i, wins of j, ties
        p = case.problem.probabilities
        self._tie = (case.ties * (1 - abs(2 * p - 1))).tolist()
        self._win = p.tolist()
        self._random = np.random.default_rng([case.seed, 1])

    @property
    def ended(self) -> bool:
        """Whether there is a decision."""
        return self.bandit.n_alive == 1 or bool(self.bandit.tied)

    def advance(self, until: int) -> None:
        """Play until a number of duels, or the decision."""
        bandit = self.bandit
        while bandit.told < until and not self.ended:
            if bandit.told % _BATCH == 0:
                self._uniform = self._random.random((_BATCH, 2)).tolist()
            duel = bandit.propose()
            i, j = duel.first, duel.second
            x, y = self._uniform[bandit.told % _BATCH]
            if x < self._tie[i][j]:
                outcome, column = rd.Outcome.TIE, 2
            elif y < self._win[i][j]:
                outcome, column = rd.Outcome.FIRST, int(i > j)
            else:
                outcome, column = rd.Outcome.SECOND, int(i < j)
            bandit.adopt(duel, outcome)
            self.counts[min(i, j)][max(i, j)][column] += 1

    def forecast(self) -> Forecast:
        """Forecast the rest of the tournament."""
        return forecast(type(self.bandit), self.bandit.snapshot(), self.meetings, resolved=self.bandit.told)

    @property
    def meetings(self) -> Integers:
        """Rows of ranker i, ranker j > i, wins of i, wins of j, and ties."""
        counts = np.array(self.counts)
        i, j = np.nonzero(counts.sum(2))
        return np.column_stack((i, j, counts[i, j]))


def cases() -> Iterator[Case]:
    """Yield cases without end: each real matrix three times, if there are any, then synthetic problems."""
    real = ((file.stem, rd.PreferenceMatrix.load(file)) for file in _matrices() * 3)
    for seed, (name, problem) in enumerate(chain(real, synthetic())):
        random = np.random.default_rng([seed, 0])
        yield Case(name, problem, float(random.choice(_TIES)), float(random.choice(_TOLERANCES)) or None, seed)


def synthetic() -> Iterator[tuple[str, rd.PreferenceMatrix]]:
    """Yield problems of four kinds in turn."""
    for seed in count():
        random = np.random.default_rng([seed, 2])
        n = int(np.exp(random.uniform(np.log(5), np.log(137))))
        ratings = random.normal(0, random.uniform(0.1, 1.0), n)
        deviations = np.triu(random.normal(0, random.uniform(0.02, 0.3), (n, n)), 1)
        lead = ratings[:, None] - ratings
        match seed % 4:
            case 0:
                yield f"web search {n}", rd.problems.web_search(n, seed=seed)
            case 1:
                yield f"normal ratings {n}", _logistic(lead)
            case 2:
                yield f"normal ratings {n}, pairs deviate", _logistic(lead + deviations - deviations.T)
            case _:
                ratings = -random.exponential(random.uniform(0.1, 1.0), n)
                yield f"exponential ratings {n}", _logistic(ratings[:, None] - ratings)


def _logistic(lead: Floats) -> rd.PreferenceMatrix:
    return rd.PreferenceMatrix(0.5 + 0.5 * np.tanh(lead / 2))


@dataclass(frozen=True, slots=True)
class Made:
    """A forecast, the duels before it, and the duels that really came after it. None if more than could be played."""

    way: float | None  # share of all duels that were before it. None at a fixed number of duels
    forecast: Forecast
    told: int
    rest: int | None

    @property
    def before(self) -> bool:
        """Whether the tournament ended before the interval."""
        least = self.forecast.horizon if self.forecast.least is None else self.forecast.least
        return self.rest is not None and self.rest < least

    @property
    def after(self) -> bool:
        """Whether the tournament ended after the interval, or was still going on."""
        rest = _MAX_DUELS - self.told if self.rest is None else self.rest
        return self.forecast.most is not None and rest > self.forecast.most


def replay(case: Case) -> list[Made]:
    """Play a tournament twice: to its end, then to each forecast."""
    first = Tournament(case)
    first.advance(_MAX_DUELS)
    end = first.bandit.told if first.ended else None
    at: dict[int, float | None] = {fixed: None for fixed in _FIXED if end is None or fixed < end}
    at |= {round(way * end): way for way in WAYS} if end else {}
    again, made = Tournament(case), []
    for told, way in sorted(at.items()):
        again.advance(told)
        made.append(Made(way, again.forecast(), told, None if end is None else end - told))
    return made


def report(*, quick: bool) -> None:
    """Play tournaments again and print how often the forecasts held."""
    made: list[Made] = []
    played = 2 if quick else _TOURNAMENTS
    for case in islice(cases(), played):
        made += replay(case)
    ended = sum(one.way == WAYS[0] for one in made)
    print(f"\nforecasts of {played} tournaments of CertifiedSparring; {ended} ended within {_MAX_DUELS:,} duels")
    heads = {
        "made": 18,
        "forecasts": 11,
        "too early": 11,
        "held": 7,
        "end before": 12,
        "after": 7,
        "open": 6,
        "width": 7,
    }
    print("".join(f"{head:>{width}}" for head, width in heads.items()))
    for way in (*WAYS, None):
        print(row(f"at {way:.0%}" if way else "at fixed duels", [one for one in made if one.way == way]))

    report_plans(2 if quick else None)


def report_plans(most: int | None) -> None:
    """Compare `rd.plan`, which knows only the number of rankers, with one simulation on each real matrix."""
    print(f"\nplans of 10 runs, and the end on the real matrix, both stopped after {_MAX_DUELS:,} duels")
    for file in islice(_matrices(), most):
        problem = rd.PreferenceMatrix.load(file)
        if problem.condorcet_winner is None:
            continue
        planned = rd.plan(problem.n_arms, delta=_DELTA, runs=10, horizon=_MAX_DUELS).prompt.duels
        bandit = rd.CertifiedSparring(problem.n_arms, delta=_DELTA, seed=0)
        end = rd.simulate(bandit, problem, horizon=_MAX_DUELS, checkpoints=[_MAX_DUELS]).converged_at
        least, likely, most_duels = planned.p10 or math.inf, end or math.inf, planned.p90 or math.inf
        verdict = "before" if likely < least else "after" if likely > most_duels else "held"
        print(f"{file.stem:>38}{least:>12,.0f}{most_duels:>12,.0f}{likely:>12,.0f}  {verdict}")


def _matrices() -> list[Path]:
    folder = data()
    return sorted((folder / "matrices").glob("*.npz")) if folder else []


def row(name: str, made: Sequence[Made]) -> str:
    """One line of the table: how many forecasts were made, held and did not, and the median of their ratio."""
    told = [one for one in made if not one.forecast.too_early]
    before, after = sum(one.before for one in told), sum(one.after for one in told)
    held = 1 - (before + after) / max(1, len(told))
    bounded = [one.forecast for one in told if one.forecast.most is not None]
    ratios = [one.most / max(1, one.least or 0) for one in bounded if one.most is not None]
    width = f"{np.median(ratios):.1f}" if ratios else "-"
    return (
        f"{name:>18}{len(made):>11}{len(made) - len(told):>11}{held:>7.0%}{before:>12}"
        f"{after:>7}{len(told) - len(bounded):>6}{width:>7}"
    )
