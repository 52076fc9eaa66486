"""The oracle is tested too: by hand-computed cases, invariants of the pseudo-code, and against uniform play."""

import copy
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from . import (
    DTS,
    NAIVE,
    REX3,
    RMED1,
    RUCB,
    MergeDTS,
    MergeRUCB,
    Naive,
    SelfSparring,
    SparringEXP3,
    SparringThompson,
    SparringTsallisINF,
    SparringUCB1,
    Uniform,
    play,
)
from .base import Floats, argmax, argmin, lower_bounds, ratio, sample_thetas, upper_bounds
from .merging import Merging, merge_singles, repartition
from .rmed1 import bernoulli_kl

MERGING = [MergeDTS, MergeRUCB]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def bradley_terry(strengths: list[float]) -> tuple[Floats, Floats]:
    """P and gaps; the first arm is the strongest."""
    s = np.array(strengths)
    P = s[:, None] / (s[:, None] + s[None, :])
    return P, P[0] - 0.5


STRONG = bradley_terry([64, 16, 8, 4, 2, 1])


def sampled(bandit: Naive, n: int = 400) -> Counter[tuple[int, int]]:
    """Pairs chosen from one state: each by a fresh copy, while the generator runs on."""
    pairs: Counter[tuple[int, int]] = Counter()
    for _ in range(n):
        one = copy.deepcopy(bandit)
        one.rng = bandit.rng
        pairs[one.choose()] += 1
    return pairs


# Every twin


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAIVE if name != "Uniform"])
def test_beats_uniform_play(name: str) -> None:
    # Uniform play costs horizon * mean gap = 2000 * 0.358; 4 runs each, seeds fixed. The slowest here is an EXP3.
    P, gaps = STRONG
    horizon = 2000
    regrets = [play(NAIVE[name](6, rng=rng(s)), P, gaps, horizon, rng(100 + s), [horizon])[-1] for s in range(4)]
    assert np.mean(regrets) < 0.7 * horizon * gaps.mean()


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize("n_arms", [1, 2, 3])
def test_plays_few_arms(name: str, n_arms: int) -> None:
    bandit, coin = NAIVE[name](n_arms, rng=rng()), rng(2)
    for t in range(1, 200):
        first, second = bandit.choose()
        assert {first, second} <= set(range(n_arms))
        bandit.learn(first, second, bool(coin.random() < 0.5))
        assert bandit.t == t


@pytest.mark.parametrize("name", NAIVE)
def test_a_deep_copy_goes_on_as_the_original(name: str) -> None:
    P, gaps = STRONG
    bandit = NAIVE[name](6, rng=rng())
    play(bandit, P, gaps, 300, rng(2), [])
    twin = copy.deepcopy(bandit)
    a = play(bandit, P, gaps, 300, rng(3), range(1, 301))
    assert np.array_equal(a, play(twin, P, gaps, 300, rng(3), range(1, 301)))


@pytest.mark.parametrize("name", [name for name in NAIVE if "Sparring" not in name])
def test_a_self_duel_teaches_nothing_but_takes_time(name: str) -> None:
    bandit = NAIVE[name](6, rng=rng())
    evidence = ("wins", "successes", "failures", "log_weights")
    bandit.choose()
    before = {k: v.copy() for k, v in vars(bandit).items() if k in evidence}
    bandit.learn(2, 2, True)
    assert bandit.t == 1
    assert all(np.array_equal(before[k], getattr(bandit, k)) for k in before)


def test_play_counts_average_regret_at_checkpoints() -> None:
    class Stubborn(Uniform):
        def choose(self) -> tuple[int, int]:
            return 1, 2

    P, gaps = np.full((3, 3), 0.5), np.array([0.0, 0.1, 0.3])
    assert play(Stubborn(3, rng=rng()), P, gaps, 10, rng(), [1, 5, 10]) == pytest.approx([0.2, 1.0, 2.0])


def test_uniform_plays_all_ordered_pairs_of_distinct_arms() -> None:
    assert set(sampled(Uniform(3, rng=rng()))) == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}


# What they share


def test_bounds_by_hand() -> None:
    # 3 : 1, bonus 1: 3/4 +- 1/2; a pair that never met: 1 +- 1.
    W = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 0]])
    upper, lower = upper_bounds(W, 1.0), lower_bounds(W, 1.0)
    assert (upper[0, 1], upper[1, 0], upper[0, 2]) == (1.25, 0.75, 2)
    assert (lower[0, 1], lower[1, 0], lower[0, 2]) == (0.25, -0.25, 0)
    assert upper_bounds(W, 0.0)[0, 2] == 2  # 0/0 := 1 too
    assert ratio(W, W + W.T)[0, 1] == 0.75


def test_ties_are_fair() -> None:
    generator = rng()
    values = np.array([2, 5, 1, 5, 1])
    high = Counter(argmax(values, generator) for _ in range(2000))
    low = Counter(argmin(values, generator) for _ in range(2000))
    assert set(high) == {1, 3}
    assert set(low) == {2, 4}
    assert abs(high[1] - 1000) < 120  # 5.4 standard deviations
    assert abs(low[2] - 1000) < 120


def test_thetas_are_antisymmetric_and_follow_the_posterior() -> None:
    W = np.array([[0, 7], [2, 0]])
    generator = rng()
    draws = np.array([sample_thetas(W, generator) for _ in range(4000)])
    assert np.allclose(draws + draws.transpose(0, 2, 1), 1)
    assert draws[:, 0, 1].mean() == pytest.approx(8 / 11, abs=0.012)  # 6 standard errors


# MergeDTS and MergeRUCB


@pytest.mark.parametrize("cls", MERGING)
def test_arms_are_shuffled_and_dealt(cls: type[MergeDTS | MergeRUCB]) -> None:
    bandit = cls(136, batch_size=16, rng=rng())
    assert [len(batch) for batch in bandit.batches] == [16] * 8 + [8]
    assert bandit.alive == list(range(136))
    assert bandit.batches[0] != list(range(16))
    # A last batch of one joins the next, the first.
    assert [len(batch) for batch in cls(33, batch_size=16, rng=rng()).batches] == [17, 16]


@pytest.mark.parametrize("cls", MERGING)
def test_batches_take_turns(cls: type[MergeDTS | MergeRUCB]) -> None:
    bandit = cls(12, batch_size=4, rng=rng())
    for t in range(1, 10):
        first, second = bandit.choose()
        assert first != second
        assert {first, second} <= set(bandit.batches[t % 3])
        bandit.learn(first, second, True)


@pytest.mark.parametrize("cls", MERGING)
def test_batches_stay_legal_until_one_arm_is_left(cls: type[MergeDTS | MergeRUCB]) -> None:
    P, _ = bradley_terry([1.6**-k for k in range(37)])
    M = 8
    bandit, coin = cls(37, batch_size=M, c=100.0, rng=rng()), rng(2)
    alive_before = bandit.alive
    while len(bandit.alive) > 1:
        first, second = bandit.choose()
        stage = bandit.stage
        bandit.learn(first, second, bool(coin.random() < P[first, second]))
        sizes = [len(batch) for batch in bandit.batches]
        assert sum(sizes) == len(bandit.alive)
        assert set(bandit.alive) <= set(alive_before)
        assert len(alive_before) - len(bandit.alive) <= 1  # by play, only the loser can fail
        assert min(sizes) > 1 or len(sizes) == 1
        assert max(sizes) <= 1.5 * M + 1
        assert bandit.stage - stage == (len(bandit.alive) <= 37 / 2**stage)
        alive_before = bandit.alive
    assert bandit.alive == [0]
    assert bandit.stage == 6  # 37 / 2^5 = 1.2
    assert bandit.choose() == (0, 0)


@pytest.mark.parametrize("cls", MERGING)
def test_elimination_by_hand(cls: type[MergeDTS | MergeRUCB]) -> None:
    # n losses, no win: u = sqrt(0.8^6 log(1 + 4e6) / n) = sqrt(3.9851 / n) = 0.5154 for n = 15, 0.4991 for n = 16.
    bandit = cls(3, alpha=0.8**6, c=4e6, rng=rng())
    bandit.wins[0, 1] = 14
    bandit.learn(0, 1, True)
    assert bandit.alive == [0, 1, 2]
    bandit.t = 0
    bandit.learn(1, 0, False)
    assert bandit.alive == [0, 2]


@pytest.mark.parametrize("cls", MERGING)
def test_elimination_uses_the_number_of_the_duel_just_played(cls: type[MergeDTS | MergeRUCB]) -> None:
    # 16 losses fall below 1/2 when log t < 4: log 54 = 3.989, log 55 = 4.007.
    for played_before, alive in [(53, [0, 2]), (54, [0, 1, 2])]:
        bandit = cls(3, alpha=1.0, c=0.0, rng=rng())
        bandit.wins[0, 1], bandit.t = 15, played_before
        bandit.learn(0, 1, True)
        assert bandit.alive == alive


@pytest.mark.parametrize("cls", MERGING)
def test_only_the_batch_just_played_is_purged(cls: type[MergeDTS | MergeRUCB]) -> None:
    bandit = cls(9, batch_size=3, rng=rng())
    bandit.batches = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    bandit.wins[0, 1] = bandit.wins[0, 2] = bandit.wins[3, 4] = 100
    bandit.learn(0, 1, True)
    assert bandit.batches == [[3, 4, 5, 0], [6, 7, 8]]  # 1 and 2 fell; 0 joined the next batch; 4 awaits its turn
    bandit.learn(5, 0, True)
    assert bandit.batches == [[3, 5, 0], [6, 7, 8]]


def test_single_arms_join_the_next_batch() -> None:
    assert merge_singles([[1, 2], [3], [4, 5]]) == [[1, 2], [4, 5, 3]]
    assert merge_singles([[1, 2], [4, 5], [3]]) == [[1, 2, 3], [4, 5]]
    assert merge_singles([[1]]) == [[1]]


def test_repartition_by_hand() -> None:
    def sizes(batches: list[int], M: int) -> list[int]:
        return [len(batch) for batch in repartition([[0] * n for n in batches], M)]

    assert sizes([3, 6, 2, 4], 4) == [6, 6, 3]  # 6 alone (2 + 6 > 6), 4 + 2, 3 alone
    assert sizes([2, 2, 11, 2], 8) == [11, 6]  # 11 alone, 2 + 2, 2; then 11 alone, 4 + 2
    assert sizes([5, 5, 5, 5], 8) == [10, 10]
    assert sizes([9, 9, 9], 8) == [9, 9, 9]
    assert sizes([3], 8) == [3]
    assert sizes([2] * 9, 16) == [18]  # 4, 4, 4, 4, 2; then 4 + 2, 4 + 4, 4; then 8 + 4, 6; 6 < 8, so 12 + 6


@pytest.mark.parametrize("cls", MERGING)
def test_counts_survive_merging(cls: type[MergeDTS | MergeRUCB]) -> None:
    P, gaps = STRONG
    bandit = cls(6, batch_size=2, rng=rng())
    play(bandit, P, gaps, 500, rng(2), [])
    self_duels = 500 - int(bandit.wins.sum())
    assert len(bandit.alive) < 6
    assert self_duels == 0 or len(bandit.alive) == 1


def test_merge_dts_plays_the_champion_of_the_batch_against_its_weakest() -> None:
    bandit = MergeDTS(6, batch_size=3, rng=rng())
    bandit.batches = [[3, 4, 5], [0, 1, 2]]  # t = 1 visits the second
    bandit.wins[0, 1], bandit.wins[1, 0] = 200, 100
    bandit.wins[0, 2], bandit.wins[2, 0] = 270, 30
    bandit.wins[1, 2], bandit.wins[2, 1] = 200, 100
    assert set(sampled(bandit)) == {(0, 2)}


def test_merge_rucb_plays_any_arm_against_the_one_most_likely_to_beat_it() -> None:
    bandit = MergeRUCB(4, batch_size=4, rng=rng())
    bandit.batches = [[0, 1, 2, 3]]
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        bandit.wins[i, j], bandit.wins[j, i] = 200, 100
    for j in range(3):
        bandit.wins[j, 3], bandit.wins[3, j] = 240, 60
    # Equal n, so the largest u_jc is the largest mean: 0 is most threatened by 1 and 2 alike, 2 by 0 and 1.
    pairs = sampled(bandit, 2000)
    assert set(pairs) == {(0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    # A pair that never met has u = 2 and comes first.
    bandit.wins[0, 3] = bandit.wins[3, 0] = 0
    pairs = sampled(bandit, 2000)
    assert {d for c, d in pairs if c == 0} == {3}
    assert {d for c, d in pairs if c == 3} == {0}


# DTS


def dts_with_a_clear_first() -> DTS:
    """Arm 0 surely comes first; 1 beats it 40 times in 100, 2 only 100 in 1000; 2 beats 1."""
    bandit = DTS(3, rng=rng())
    bandit.t = 3000
    bandit.wins[0, 1], bandit.wins[1, 0] = 60, 40
    bandit.wins[0, 2], bandit.wins[2, 0] = 900, 100
    bandit.wins[2, 1], bandit.wins[1, 2] = 990, 10
    return bandit


def test_dts_reads_the_column() -> None:
    # phi_1 ~ Beta(41, 61), phi_2 ~ Beta(101, 901), phi_0 = 1/2. Whoever reads the row plays 2, always.
    bandit = dts_with_a_clear_first()
    assert bandit.candidates() == [0]
    pairs = sampled(bandit, 2000)
    assert set(pairs) == {(0, 0), (0, 1)}
    assert 10 <= pairs[0, 1] <= 95  # P(phi_1 > 1/2) = 0.023: 46.6 expected, bounds beyond 5 standard deviations


def test_dts_leaves_out_the_arms_that_surely_beat_the_first() -> None:
    # A state no play reaches: phi_2 is near 0.9, but l_2,0 = 0.9 - sqrt(0.2097 * log 3001 / 1000) = 0.859 > 1/2.
    bandit = dts_with_a_clear_first()
    bandit.wins[0, 2], bandit.wins[2, 0] = 100, 900
    assert lower_bounds(bandit.wins, bandit.bonus)[2, 0] == pytest.approx(0.859, abs=1e-3)
    assert {bandit.choose_second(0) for _ in range(500)} <= {0, 1}


def test_dts_candidates_by_hand() -> None:
    # alpha log t = 0.5 * log 100 = 2.303; n = 40 gives 0.24, n = 4 gives 0.759.
    bandit = DTS(3, alpha=0.5, rng=rng())
    bandit.t = 99
    bandit.wins[0, 1], bandit.wins[1, 0] = 32, 8  # u_01 = 1.04, u_10 = 0.44
    bandit.wins[1, 2] = 4  # u_12 = 1.76, u_21 = 0.759
    assert bandit.candidates() == [0, 2]  # 0 and 2 never met: u = 2 both ways


# RMED1


def rmed1_after_the_first_pass() -> RMED1:
    bandit = RMED1(3, rng=rng())
    bandit.first_pass.clear()
    bandit.wins[0, 1], bandit.wins[1, 0] = 3, 1
    bandit.wins[2, 0] = 2
    bandit.wins[1, 2] = bandit.wins[2, 1] = 1
    return bandit


def test_bernoulli_kl_by_hand() -> None:
    p = np.array([0.0, 0.25, 0.5, 1.0])
    quarter = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert bernoulli_kl(p, 0.5) == pytest.approx([math.log(2), quarter, 0, math.log(2)])


def test_rmed1_divergences_by_hand() -> None:
    # O_0 = {2}: 2 d(0, 1/2). O_1 = {0, 2}: 4 d(1/4, 1/2) + 2 d(1/2, 1/2). O_2 = {1}: 2 d(1/2, 1/2).
    bandit = rmed1_after_the_first_pass()
    assert bandit.divergences() == pytest.approx([2 * math.log(2), 0.5232481, 0], abs=1e-7)
    # All the opponents of O_i count, not one of them.
    bandit.wins[2, 1] = 5  # p_12 = 1/6
    lost_to_2 = 6 * (1 / 6 * math.log(1 / 3) + 5 / 6 * math.log(5 / 3))
    assert bandit.divergences()[1] == pytest.approx(0.5232481 + lost_to_2, abs=1e-7)


@pytest.mark.parametrize(
    ("arm", "opponent"),
    [
        (0, 2),  # i* = 2 is in O_0
        (1, 2),  # p_12 = 1/2 counts as a loss
        (2, 1),  # i* itself, but O_2 = {1}: the toughest opponent
    ],
)
def test_rmed1_opponents_by_hand(arm: int, opponent: int) -> None:
    bandit = rmed1_after_the_first_pass()
    bandit.L_C = bandit.L_R = [arm]
    assert set(sampled(bandit, 50)) == {(arm, opponent)}


def test_rmed1_plays_an_unbeaten_arm_against_itself() -> None:
    bandit = rmed1_after_the_first_pass()
    bandit.wins[2, 1] = 2
    bandit.L_C = [2]
    assert bandit.choose() == (2, 2)


def test_rmed1_first_plays_every_pair_once_then_every_arm() -> None:
    bandit, coin = RMED1(5, rng=rng()), rng(2)
    pairs = []
    for _ in range(10):
        pairs.append(bandit.choose())
        bandit.learn(*pairs[-1], bool(coin.random() < 0.5))
    assert len({frozenset(pair) for pair in pairs}) == 10
    assert [a for a, b in pairs][:4] == [bandit.order[0]] * 4
    assert ((bandit.wins + bandit.wins.T) == 1 - np.eye(5)).all()
    leads = []
    for _ in range(5):
        leads.append(bandit.choose()[0])
        bandit.learn(*bandit.choose(), True)
    assert leads == bandit.order
    assert not bandit.L_N
    assert bandit.L_C == bandit.L_R


def test_rmed1_lets_an_arm_join_by_its_divergence() -> None:
    # I* = I_0 = 0. Arm 1 lost 8 of 8 to arm 0: I_1 = 8 log 2 = 5.545; arm 2 lost 1 of 1: 0.693 (their 1 : 1 adds 0).
    # The duel (0, 0) is number 9: log 9 = 2.197. With f = 0 arm 1 stays out, with f = 4 it joins.
    for f, joined in [(0.0, {0, 2}), (4.0, {0, 1, 2})]:
        bandit = RMED1(3, f=f, rng=rng())
        bandit.first_pass.clear()
        bandit.wins[0, 1], bandit.wins[0, 2], bandit.wins[1, 2], bandit.wins[2, 1] = 8, 1, 1, 1
        bandit.t, bandit.L_C, bandit.L_R, bandit.L_N = 8, [0], [0], [2]
        bandit.learn(0, 0, True)
        assert set(bandit.L_C) == joined
        assert len(bandit.L_C) == len(joined)  # 2 joins once
    # Who still waits in L_R does not join.
    bandit = RMED1(3, f=100.0, rng=rng())
    bandit.first_pass.clear()
    bandit.wins += 1 - np.eye(3, dtype=np.int64)
    bandit.t, bandit.L_C, bandit.L_R, bandit.L_N = 6, [0, 1, 2], [0, 1, 2], []
    bandit.learn(0, 1, True)
    assert (bandit.L_C, bandit.L_R, bandit.L_N) == ([1, 2], [1, 2], [0])


def test_rmed1_parameter() -> None:
    assert RMED1(136, rng=rng()).f == pytest.approx(0.3 * 136**1.01)


# Self-Sparring, REX3, RUCB, Sparring


def test_self_sparring_draws_twice_from_what_it_learnt() -> None:
    bandit = SelfSparring(3, rng=rng())
    assert len(sampled(bandit)) == 9
    bandit.learn(1, 2, False)
    assert bandit.successes.tolist() == [0, 0, 1]
    assert bandit.failures.tolist() == [0, 1, 0]
    bandit.successes[:], bandit.failures[:] = [500, 100, 500], [100, 500, 100]
    assert set(sampled(bandit)) == {(0, 0), (0, 2), (2, 0), (2, 2)}


def test_rex3_update_by_hand() -> None:
    bandit = REX3(4, gamma=0.4, rng=rng())
    bandit.log_weights[:] = np.log([3, 1, 1, 1])
    bandit.choose()
    assert bandit.probs == pytest.approx([0.6 * 0.5 + 0.1] + [0.6 / 6 + 0.1] * 3)  # 0.4, 0.2, 0.2, 0.2
    bandit.learn(1, 0, False)
    assert bandit.log_weights == pytest.approx([math.log(3) + 0.4 / (4 * 2 * 0.4), -0.4 / (4 * 2 * 0.2), 0, 0])


def test_adaptive_gammas() -> None:
    k_log_k = 136 * math.log(136)
    rex3, exp3 = REX3(136, rng=rng()), SparringEXP3(136, rng=rng())
    assert rex3.exploration() == pytest.approx(math.sqrt(k_log_k / 1e4))
    assert exp3.exploration() == pytest.approx(math.sqrt(k_log_k / ((math.e - 1) * 1e4)))
    rex3.t = exp3.t = 10**6 - 1
    assert rex3.exploration() == pytest.approx(math.sqrt(k_log_k / 1e6))
    assert exp3.exploration() == pytest.approx(math.sqrt(k_log_k / ((math.e - 1) * 1e6)))
    assert REX3(10**4, rng=rng()).exploration() == 0.5
    assert SparringEXP3(10**4, rng=rng()).exploration() == 1


def rucb_with_two_candidates() -> RUCB:
    """Arms 0 and 1 have beaten 2 and 3, and are even; 2 and 3 are even."""
    bandit = RUCB(4, rng=rng())
    bandit.t = 1000
    bandit.wins[:2, 2:] = 100
    bandit.wins[0, 1] = bandit.wins[1, 0] = bandit.wins[2, 3] = bandit.wins[3, 2] = 50
    return bandit


def test_rucb_champions() -> None:
    bandit = rucb_with_two_candidates()
    assert set(sampled(bandit)) == {(0, 1), (1, 0)}
    # Once 0 alone is a candidate it is B, and keeps half of the plays when others come back.
    bandit.wins[0, 1] = 500
    assert bandit.choose() == (0, 0)  # every other arm's u is below 1/2
    assert bandit.B == [0]
    bandit.wins[0, 1] = 50
    bandit.wins[:2, 2] = bandit.wins[2, :2] = 30
    bandit.wins[2, 3] = 100
    assert bandit.choose()[0] in {0, 1, 2}
    assert bandit.B == [0]
    champions = Counter[int]()
    for (c, _), n in sampled(bandit, 2000).items():
        champions[c] += n
    assert set(champions) == {0, 1, 2}
    assert abs(champions[0] - 1000) < 120  # 1/2, not 1/3
    assert abs(champions[1] - 500) < 110
    # B is forgotten when it is beaten, and then all candidates are even.
    bandit.wins[2, 0] = 500
    bandit.choose()
    assert bandit.B == []


def test_rucb_without_candidates_plays_any_champion() -> None:
    bandit = RUCB(3, rng=rng())
    bandit.t = 100
    bandit.wins[0, 1] = bandit.wins[1, 2] = bandit.wins[2, 0] = 100
    assert set(sampled(bandit)) == {(0, 2), (1, 0), (2, 1)}


def test_sparring_sides_learn_apart_and_from_self_duels() -> None:
    thompson = SparringThompson(3, rng=rng())
    thompson.learn(1, 1, False)
    assert thompson.successes.tolist() == [[0, 0, 0], [0, 1, 0]]
    assert thompson.failures.tolist() == [[0, 1, 0], [0, 0, 0]]
    ucb = SparringUCB1(3, rng=rng())
    ucb.learn(0, 2, True)
    assert ucb.wins.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert ucb.plays.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert set(sampled(ucb)) == {(i, j) for i in (1, 2) for j in (0, 1)}  # unplayed arms first
    exp3 = SparringEXP3(4, gamma=0.4, rng=rng())
    exp3.log_weights[0] = np.log([3, 1, 1, 1])
    exp3.choose()
    exp3.learn(0, 3, True)
    assert exp3.log_weights[0] == pytest.approx([math.log(3) + 0.4 * (1 / 0.4) / 4, 0, 0, 0])
    assert exp3.log_weights[1] == pytest.approx(0)
    tsallis = SparringTsallisINF(4, rng=rng())
    tsallis.probs[1] = [0.1, 0.2, 0.3, 0.4]
    tsallis.learn(0, 3, True)
    assert tsallis.losses.tolist() == [[0, 0, 0, 0], [0, 0, 0, 2.5]]


def test_tsallis_weights_by_hand() -> None:
    # eta = 2: w = 1 / (L - x)^2. Two arms of loss 0 and one of 3, x = -2: 1/4 + 1/4 + 1/25, so x is nearer to 0.
    bandit = SparringTsallisINF(3, rng=rng())
    assert bandit.weights(np.zeros(3), 0.7) == pytest.approx([1 / 3] * 3)
    w = bandit.weights(np.array([0.0, 0.0, 3.0]), 2.0)
    x = -1 / math.sqrt(w[0])
    assert w == pytest.approx([1 / x**2, 1 / x**2, 1 / (3 - x) ** 2])
    assert -2 < x < -math.sqrt(2)
    assert w.sum() == pytest.approx(1)


def test_sparring_ucb1_index_by_hand() -> None:
    # t = 100: 2 log 100 = 9.21; means 0.9 and 0.5, plays 90 and 8: 0.9 + 0.32 < 0.5 + 1.07.
    bandit = SparringUCB1(2, rng=rng())
    bandit.t = 99
    bandit.wins[:] = [[81, 4], [4, 81]]
    bandit.plays[:] = [[90, 8], [8, 90]]
    assert bandit.choose() == (1, 0)
    bandit.alpha = 0.1
    assert bandit.choose() == (0, 1)


def test_merging_regret_stops_growing() -> None:
    P, gaps = STRONG
    for cls in MERGING:
        bandit: Merging = cls(6, batch_size=4, rng=rng())
        curve = play(bandit, P, gaps, 4000, rng(5), range(1000, 4001, 1000))
        assert bandit.alive == [0]
        assert [b - a for a, b in pairwise(curve)][-1] == 0
