"""How often the end of a tournament lies in the forecast interval: played again, at 25, 50 and 75 % of the way.

The problems are the real preference matrices, if there are any, and synthetic ones with 5 to 136 rankers. Some have
ties, up to two thirds of the duels of close rankers, and some have a tolerance.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from time import thread_time

import numpy as np
import numpy.typing as npt

import rankduel as rd
from benchmarks.problem import data
from rankduel.dashboard import Forecast, forecast

_MAX_DUELS = 1_000_000  # a tournament that is longer is left out
_DELTA = 0.05
_TOLERANCES = None, 0.02, 0.05
_TIES = 0.0, 0.3, 0.67  # of rankers that are equal. Rankers that differ tie less
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


class Play:
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

    @property
    def meetings(self) -> Integers:
        """Rows of ranker i, ranker j > i, wins of i, wins of j, and ties."""
        counts = np.array(self.counts)
        i, j = np.nonzero(counts.sum(2))
        return np.column_stack((i, j, counts[i, j]))


def cases(tournaments: int, *, real: bool = True) -> Iterator[Case]:
    """Yield cases: first each real matrix, with every share of ties, then synthetic problems."""
    folder = data() if real else None
    files = sorted((folder / "matrices").glob("*.npz")) if folder else []
    known = ((file.stem, rd.PreferenceMatrix.load(file)) for _ in _TIES for file in files)
    settings = zip(cycle(_TOLERANCES), (ties for ties in cycle(_TIES) for _ in _TOLERANCES), strict=False)
    named = (*known, *islice(_synthetic(), max(0, tournaments - len(files) * len(_TIES))))
    for seed, ((name, problem), (tolerance, ties)) in enumerate(zip(named, settings, strict=False)):
        if seed < tournaments:
            yield Case(name, problem, ties, tolerance, seed)


def _synthetic() -> Iterator[tuple[str, rd.PreferenceMatrix]]:
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


def replay(case: Case) -> tuple[int, list[tuple[int, Forecast]]] | None:
    """Return the end of a tournament, and duels and forecast at each of the ways. None if it did not end in time."""
    first = Play(case)
    first.advance(_MAX_DUELS)
    if not first.ended or first.bandit.told < 2 * len(WAYS):
        return None
    end, again, made = first.bandit.told, Play(case), []
    for way in WAYS:
        again.advance(int(way * end))
        told = again.bandit.told
        made.append((told, forecast(type(again.bandit), again.bandit.snapshot(), again.meetings, resolved=told)))
    return end, made


def held(made: Forecast, rest: int) -> bool:
    """Whether the real rest lies in the interval of a forecast."""
    least = made.horizon if made.least is None else made.least
    return least <= rest and (made.most is None or rest <= made.most)
