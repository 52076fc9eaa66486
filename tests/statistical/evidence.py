"""Any evidence by the public interface, and tests of fit.

Duels asked for while a bandit knows nothing are of all kinds. They may stay pending, and be told in any order: so every
state of counts can be reached by asking first and telling later.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, chisquare

import rankduel as rd

ALARM = 1e-7  # p-values below it are alarms; as a tail of chi-square is approximate, we state a rate of 1e-6 per test
CAUGHT = 1e-9  # what a wrong variant must fall below
RARE = 20  # expected draws in a cell; rarer ones are taken together

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def teach_pairs(bandit: rd.Bandit, wins: Counts) -> None:
    """Tell a new bandit that arm i has beaten arm j wins[i, j] times, in random order."""
    need = {(i, j): int(wins[i, j] + wins[j, i]) for i in range(len(wins)) for j in range(i)}
    asked: dict[tuple[int, int], list[rd.Duel]] = defaultdict(list)
    missing = sum(need.values())
    while missing:
        duel = bandit.ask()
        pair = max(duel.first, duel.second), min(duel.first, duel.second)
        if len(asked[pair]) < need.get(pair, 0):
            asked[pair].append(duel)
            missing -= 1
        else:
            bandit.forget(duel)
    lessons = []
    for (i, j), duels in asked.items():
        for k, duel in enumerate(duels):
            winner = i if k < wins[i, j] else j
            lessons.append((duel, rd.Outcome.FIRST if duel.first == winner else rd.Outcome.SECOND))
    _tell(bandit, lessons)


def teach_first_side(bandit: rd.SparringThompson, successes: Counts, failures: Counts) -> None:
    """Tell a new bandit how often the first side's arms have won and lost, in random order."""
    need = successes + failures
    asked: dict[int, list[rd.Duel]] = defaultdict(list)
    missing = int(need.sum())
    while missing:
        duel = bandit.ask()
        if len(asked[duel.first]) < need[duel.first]:
            asked[duel.first].append(duel)
            missing -= 1
        else:
            bandit.forget(duel)
    _tell(
        bandit,
        [
            (duel, rd.Outcome.FIRST if k < successes[arm] else rd.Outcome.SECOND)
            for arm, duels in asked.items()
            for k, duel in enumerate(duels)
        ],
    )


def _tell(bandit: rd.Bandit, lessons: list[tuple[rd.Duel, rd.Outcome]]) -> None:
    for k in np.random.default_rng(len(lessons)).permutation(len(lessons)):
        bandit.tell(*lessons[k])


def draws(bandit: rd.Bandit, n: int) -> Counter[tuple[int, int]]:
    """What it asks for, time and again, without being told."""
    pairs: Counter[tuple[int, int]] = Counter()
    for _ in range(n):
        duel = bandit.ask()
        bandit.forget(duel)
        pairs[duel.first, duel.second] += 1
    return pairs


def first_arms(pairs: Mapping[tuple[int, int], int], n_arms: int) -> Counts:
    """How often each arm came first."""
    counts = np.zeros(n_arms, np.int64)
    for (first, _), n in pairs.items():
        counts[first] += n
    return counts


def fit(observed: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """The p-value that counts follow probabilities: chi-square's of the common cells, a binomial of the rare ones."""
    counts, chances = np.asarray(observed, float), np.asarray(expected, float)
    if abs(chances.sum() - 1) > 1e-6:
        raise ValueError(f"the probabilities sum to {chances.sum()}")
    common = counts.sum() * chances >= RARE
    rest = float(binom.sf(counts[~common].sum() - 1, int(counts.sum()), chances[~common].sum()))
    usual = 1.0
    if common.sum() > 1 and counts[common].any():
        share = chances[common] / chances[common].sum()
        usual = float(chisquare(counts[common], counts[common].sum() * share).pvalue)
    return min(1.0, 2 * min(usual, rest))


def even_fit(counts: Mapping[Any, int], n_cells: int) -> float:
    """The p-value of the test that all of so many cells are as likely."""
    observed = [*counts.values(), *[0] * (n_cells - len(counts))]
    return fit(observed, np.full(n_cells, 1 / n_cells))
