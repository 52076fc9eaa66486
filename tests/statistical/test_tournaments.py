"""Who wins a sampled tournament: MergeDTS and DTS against every outcome of it, counted out, or against NumPy.

False alarm: at most 1e-6 per test. Caught: ties to the lowest place, theta_ij and theta_ji drawn apart.
"""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.special import betainc

import rankduel as rd
from statistical.evidence import ALARM, CAUGHT, Counts, Floats, draws, first_arms, fit, teach_pairs
from statistical.test_beta_argmax import random_wins

N = 100_000


def beats(wins: Counts) -> Floats:
    """P(theta_ij > 1/2), theta_ij ~ Beta(w_ij + 1, w_ji + 1)."""
    return np.asarray(betainc(wins.T + 1.0, wins + 1.0, 0.5))


def counted_out(wins: Counts, *, apart: bool = False, lowest: bool = False) -> Floats:
    """The chance of each arm to win most, over all outcomes of all pairs; few arms only."""
    n, chance = len(wins), beats(wins)
    pairs = list(permutations(range(n), 2) if apart else combinations(range(n), 2))
    outcomes = np.array(list(product([False, True], repeat=len(pairs))))
    weight, score = np.ones(len(outcomes)), np.zeros((len(outcomes), n))
    for k, (i, j) in enumerate(pairs):
        weight *= np.where(outcomes[:, k], chance[i, j], 1 - chance[i, j])
        score[:, i] += outcomes[:, k]
        if not apart:
            score[:, j] += ~outcomes[:, k]
    best = score == score.max(axis=1, keepdims=True)
    if lowest:
        best = best & (best.cumsum(axis=1) == 1)
    return np.asarray((weight[:, None] * best / best.sum(axis=1, keepdims=True)).sum(axis=0))


def sampled(wins: Counts, n_samples: int) -> Counts:
    """How often each arm wins most, in NumPy; any number of arms."""
    rng, n, chance = np.random.default_rng(1), len(wins), beats(wins)
    above = np.triu(np.ones((n, n), bool), 1)
    counts = np.zeros(n, np.int64)
    for _ in range(n_samples // 250):
        won = (rng.random((250, n, n), np.float32) < chance) & above
        score = won.sum(axis=2) + (~won & above).sum(axis=1)
        counts += np.bincount((score + rng.random(score.shape) / 2).argmax(axis=1), minlength=n)
    return counts


def tournament(kind: str, wins: Counts, n_draws: int = N) -> tuple[Counts, list[int]]:
    """How often each arm is first, and the order in which the bandit keeps the arms."""
    n_arms = len(wins)
    bandit: rd.Bandit
    if kind == "DTS":
        bandit = rd.DTS(n_arms, alpha=1e6, seed=4)
        places = list(range(n_arms))
    else:
        bandit = rd.MergeDTS(n_arms, batch_size=n_arms, alpha=1e6, seed=4)
        places = bandit.batches[0]
    teach_pairs(bandit, wins)
    return first_arms(draws(bandit, n_draws), n_arms), places


EACH = pytest.mark.parametrize("kind", ["MergeDTS", "DTS"])


@EACH
@pytest.mark.parametrize("n_arms", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("most", [0, 2, 12, 60])
def test_few_arms(kind: str, n_arms: int, most: int) -> None:
    wins = random_wins(n_arms, most, seed=10 * n_arms + most)
    counts, _ = tournament(kind, wins)
    assert fit(counts, counted_out(wins)) > ALARM


@EACH
@pytest.mark.parametrize(
    ("n_arms", "most"), [(8, 5), (15, 3), (16, 20), (17, 6), (33, 4), (40, 60), (63, 3), (64, 1), (70, 4), (130, 2)]
)
def test_many_arms(kind: str, n_arms: int, most: int) -> None:
    wins = random_wins(n_arms, most, seed=n_arms)
    n = 50_000 if n_arms <= 70 else 20_000
    counts, _ = tournament(kind, wins, n)
    reference = sampled(wins, n)
    # Two samples of the same size: of their sum, each cell's share of one is a half.
    common = counts + reference >= 60
    p = fit(
        np.concatenate([counts[common], reference[common]]),
        np.tile((counts + reference)[common] / 2 / (counts + reference)[common].sum(), 2),
    )
    assert p > ALARM


@EACH
def test_what_is_caught(kind: str) -> None:
    wins = random_wins(4, 3, seed=1)
    counts, places = tournament(kind, wins)
    assert fit(counts, counted_out(wins)) > ALARM
    assert fit(counts, counted_out(wins, apart=True)) < CAUGHT
    lowest = np.empty(4)
    lowest[places] = counted_out(wins[np.ix_(places, places)], lowest=True)
    assert fit(counts, lowest) < CAUGHT
    assert fit(counts, counted_out(wins.T)) < CAUGHT
    one_more = wins.copy()
    one_more[0, 1] += 1
    assert fit(counts, counted_out(one_more)) < CAUGHT
