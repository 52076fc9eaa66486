"""What nobody draws must agree exactly: a twin that is told the kernel's duels follows it step by step.

No chance here beyond the runs themselves: a false alarm is impossible.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rankduel as rd
from fidelity import wrong
from fidelity.law import start_in_order
from fidelity.problems import CYCLE, CYCLE2, even, hopeless, ladder, scissors
from naive import DTS, REX3, RMED1, RUCB, MergeDTS, MergeRUCB, SparringEXP3, SparringTsallisINF, SparringUCB1
from naive.base import lower_bounds, upper_bounds
from naive.merging import Merging

PROBLEMS = {
    "ladder": ladder(7),
    "faint": ladder(12, 1.05),
    "circle": scissors(6),
    "cycle": CYCLE,
    "hopeless": hopeless(17),
    "even": even(4),
}
EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def duels(bandit: rd.Bandit, problem: rd.PreferenceMatrix, n: int) -> Iterator[tuple[rd.Duel, bool]]:
    """Ask; hand out the duel and who won; tell when the caller has looked at it."""
    coin = np.random.default_rng(n)
    for _ in range(n):
        duel = bandit.ask()
        won = bool(coin.random() < problem.probabilities[duel.first, duel.second])
        yield duel, won
        bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@EACH
def test_rmed1_takes_its_arms_in_turn(problem: rd.PreferenceMatrix) -> None:
    """The lists L_C, L_R and L_N, and who joins them when; the order within a list is arbitrary."""
    for f in (None, 0.5):
        bandit, twin = rd.RMED1(problem.n_arms, f=f, seed=5), RMED1(problem.n_arms, f=f, rng=rng())
        start_in_order(twin, rd.RMED1(problem.n_arms, f=f, seed=5))
        for duel, won in duels(bandit, problem, 1500):
            if twin.first_pass:
                assert (duel.first, duel.second) == twin.first_pass[0]
            else:
                assert duel.first in twin.L_C
                twin.L_C.remove(duel.first)
                twin.L_C.insert(0, duel.first)
                stars = np.flatnonzero(twin.divergences() == twin.divergences().min())
                losses_to = twin.beaten_by()[duel.first]
                p = twin.means()[duel.first]
                p[duel.first] = np.inf
                assert duel.second in stars or duel.second in np.flatnonzero(p == p.min())
                if losses_to[stars].all() or not losses_to.any():
                    assert duel.second in stars
            twin.learn(duel.first, duel.second, won)


@EACH
@pytest.mark.parametrize("alpha", [0.8**7, 0.51])
def test_dts_stays_within_its_bounds(problem: rd.PreferenceMatrix, alpha: float) -> None:
    """The first arm is a candidate, the second not surely better, at every t: time raises bounds, too."""
    bandit, twin = rd.DTS(problem.n_arms, alpha=alpha, seed=6), DTS(problem.n_arms, alpha=alpha, rng=rng())
    chosen = set()
    for duel, won in duels(bandit, problem, 4000):
        candidates = twin.candidates()
        assert duel.first in candidates
        if len(candidates) > 1:
            chosen.add((len(candidates), duel.first))
        if duel.second != duel.first:
            assert lower_bounds(twin.wins, twin.bonus)[duel.second, duel.first] <= 0.5
        twin.learn(duel.first, duel.second, won)
    assert chosen


@EACH
@pytest.mark.parametrize("alpha", [0.1, 0.51])
def test_rucb_stays_within_its_bounds(problem: rd.PreferenceMatrix, alpha: float) -> None:
    bandit, twin = rd.RUCB(problem.n_arms, alpha=alpha, seed=7), RUCB(problem.n_arms, alpha=alpha, rng=rng())
    for duel, won in duels(bandit, problem, 4000):
        u = upper_bounds(twin.wins, twin.alpha * math.log(twin.t + 1))
        np.fill_diagonal(u, 0.5)
        candidates = np.flatnonzero((u >= 0.5).all(axis=1))
        assert duel.first in candidates or not len(candidates)
        assert u[duel.second, duel.first] == u[:, duel.first].max()
        twin.learn(duel.first, duel.second, won)


@EACH
def test_sparring_ucb1_takes_the_highest_bounds(problem: rd.PreferenceMatrix) -> None:
    bandit, twin = rd.SparringUCB1(problem.n_arms, seed=8), SparringUCB1(problem.n_arms, rng=rng())
    for duel, won in duels(bandit, problem, 3000):
        for side, arm in enumerate((duel.first, duel.second)):
            wins, n = twin.wins[side], twin.plays[side]
            if (n == 0).any():
                assert n[arm] == 0
            else:
                bound = wins / n + np.sqrt(twin.alpha * math.log(twin.t + 1) / n)
                assert bound[arm] >= bound.max() - 1e-12
        twin.learn(duel.first, duel.second, won)


@EACH
@pytest.mark.parametrize("gamma", [None, 0.1])
def test_exponential_weights(problem: rd.PreferenceMatrix, gamma: float | None) -> None:
    """The propensities that travel in the duel are the probabilities of the twin: of gamma, of factors, of sides."""
    rex3, rex3_twin = rd.REX3(problem.n_arms, gamma=gamma, seed=9), REX3(problem.n_arms, gamma=gamma, rng=rng())
    for duel, won in duels(rex3, problem, 3000):
        rex3_twin.choose()
        assert duel.propensity == pytest.approx(rex3_twin.probs[[duel.first, duel.second]], rel=1e-9)
        rex3_twin.learn(duel.first, duel.second, won)
    exp3 = rd.SparringEXP3(problem.n_arms, gamma=gamma, seed=10)
    exp3_twin = SparringEXP3(problem.n_arms, gamma=gamma, rng=rng())
    for duel, won in duels(exp3, problem, 3000):
        exp3_twin.choose()
        expected = exp3_twin.probs[0, duel.first], exp3_twin.probs[1, duel.second]
        assert duel.propensity == pytest.approx(expected, rel=1e-9)
        exp3_twin.learn(duel.first, duel.second, won)


def tsallis_apart(problem: rd.PreferenceMatrix, n: int, variant: type[SparringTsallisINF]) -> float:
    """The largest difference of the kernel's propensities from the twin's, or a wrong variant's, relative to these."""
    bandit, twin = rd.SparringTsallisINF(problem.n_arms, seed=12), variant(problem.n_arms, rng=rng())
    apart = 0.0
    for duel, won in duels(bandit, problem, n):
        twin.choose()
        expected = np.array([twin.probs[0, duel.first], twin.probs[1, duel.second]])
        apart = max(apart, float(np.abs(np.array(duel.propensity) / expected - 1).max()))
        twin.probs[[0, 1], [duel.first, duel.second]] = duel.propensity  # it feeds back: rounding would grow
        twin.learn(duel.first, duel.second, won)
    return apart


@EACH
def test_tsallis_weights(problem: rd.PreferenceMatrix) -> None:
    """Newton's method from where it was finds what it finds from a safe start."""
    assert tsallis_apart(problem, 1000, SparringTsallisINF) < 1e-8


@pytest.mark.parametrize(
    "variant",
    [
        wrong.TsallisWithoutPropensity,
        wrong.TsallisRewardsAsLosses,
        wrong.TsallisTwiceAsFast,
        wrong.TsallisSidesSwapped,
    ],
)
def test_wrong_tsallis_weights_are_noticed(variant: type[SparringTsallisINF]) -> None:
    assert tsallis_apart(CYCLE2, 50, variant) > 0.05


def test_tsallis_weights_far_from_the_last_ones() -> None:
    """Many duels asked for at once and told at last: x is far from where it was, on either side."""
    bandit, twin, coin = rd.SparringTsallisINF(9, seed=13), SparringTsallisINF(9, rng=rng()), rng()
    for round_ in range(12):
        asked = [bandit.ask() for _ in range(60)]
        for duel in asked:
            assert duel.propensity is not None
            weights = [twin.weights(twin.losses[side], 2 / math.sqrt(duel.number)) for side in (0, 1)]
            assert duel.propensity == pytest.approx((weights[0][duel.first], weights[1][duel.second]), rel=1e-8)
        for duel in asked:
            won = bool(coin.random() < (0.9 if round_ % 2 else 0.1))
            bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
            side, arm = (1, duel.second) if won else (0, duel.first)
            assert duel.propensity is not None
            twin.losses[side, arm] += 1 / duel.propensity[side]


def test_a_late_tell_uses_the_gamma_and_the_propensities_of_its_ask() -> None:
    """By hand: pairs of duels are told in the wrong order; beyond 10,000 duels gamma falls with a duel's number."""
    K, logs, coin = 20, np.zeros(20), np.random.default_rng(11)
    bandit = rd.REX3(K, seed=11)

    def gamma(duel: rd.Duel) -> float:
        return min(0.5, math.sqrt(K * math.log(K) / max(duel.number, 10_000)))

    for _ in range(7000):
        asked = [bandit.ask(), bandit.ask()]
        weights = np.exp(logs - logs.max())
        for duel in asked:
            probs = (1 - gamma(duel)) * weights / weights.sum() + gamma(duel) / K
            assert duel.propensity == pytest.approx((probs[duel.first], probs[duel.second]), rel=1e-9)
        for duel in reversed(asked):
            won = bool(coin.random() < CYCLE2.probabilities[duel.first, duel.second])
            bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
            if duel.first != duel.second:
                assert duel.propensity is not None
                step = gamma(duel) / (2 * K) * (1 if won else -1)
                logs[duel.first] += step / duel.propensity[0]
                logs[duel.second] -= step / duel.propensity[1]


MERGING: list[tuple[type[rd.MergeDTS | rd.MergeRUCB], type[Merging], dict[str, Any]]] = [
    (rd.MergeDTS, MergeDTS, {"batch_size": 4, "c": 10.0}),
    (rd.MergeDTS, MergeDTS, {"batch_size": 7, "c": 1.0, "alpha": 0.1}),
    (rd.MergeDTS, MergeDTS, {}),
    (rd.MergeRUCB, MergeRUCB, {"batch_size": 2, "c": 10.0}),
    (rd.MergeRUCB, MergeRUCB, {"batch_size": 5, "c": 1.0, "alpha": 0.1}),
    (rd.MergeRUCB, MergeRUCB, {}),
]


@pytest.mark.parametrize(("kernel", "naive", "options"), MERGING, ids=[f"{k.__name__}-{o}" for k, _, o in MERGING])
@pytest.mark.parametrize(
    "problem", [ladder(41, 1.2), hopeless(33), CYCLE, even(17)], ids=["ladder", "hopeless", "cycle", "even"]
)
def test_elimination_and_merging(
    kernel: type[rd.MergeDTS | rd.MergeRUCB],
    naive: type[Merging],
    options: dict[str, Any],
    problem: rd.PreferenceMatrix,
) -> None:
    """Who goes, when, and how large the batches are then; who is joined with whom among equals is anybody's choice."""
    bandit, twin = kernel(problem.n_arms, seed=12, **options), naive(problem.n_arms, rng=rng(), **options)
    twin.batches = bandit.batches
    coin = np.random.default_rng(12)
    while bandit.told < 4000 and bandit.n_alive > 1:
        duel = bandit.ask()
        assert {duel.first, duel.second} <= set(twin.batches[duel.number % len(twin.batches)])
        won = bool(coin.random() < problem.probabilities[duel.first, duel.second])
        bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
        twin.learn(duel.first, duel.second, won)
        assert bandit.alive.tolist() == twin.alive, f"after {bandit.told} duels"
        batches = bandit.batches
        assert sorted(map(len, batches)) == sorted(map(len, twin.batches))
        twin.batches = batches
