"""Shuffles and ties: every order, every pair, every arm is as likely.

False alarm: at most 1e-6 per test. Caught: a naive shuffle, ties that favour the first or the last.
"""

from collections import Counter
from collections.abc import Hashable
from math import factorial

import numpy as np
import pytest

import rankduel as rd
from statistical.evidence import ALARM, CAUGHT, draws, even_fit


def orders(kind: str, n_arms: int, n: int) -> Counter[Hashable]:
    """The order of the arms in so many new bandits."""
    counts: Counter[Hashable] = Counter()
    for seed in range(n):
        if kind == "RMED1":
            bandit = rd.RMED1(n_arms, seed=seed)
            duels = [bandit.ask() for _ in range(n_arms - 1)]
            counts[(duels[0].first, *(duel.second for duel in duels))] += 1
        else:
            batches = (rd.MergeDTS if kind == "MergeDTS" else rd.MergeRUCB)(n_arms, batch_size=2, seed=seed).batches
            counts[tuple(arm for batch in batches for arm in batch)] += 1
    return counts


@pytest.mark.parametrize("kind", ["RMED1", "MergeDTS", "MergeRUCB"])
def test_every_order_is_as_likely(kind: str) -> None:
    assert even_fit(orders(kind, 4, 6000), factorial(4)) > ALARM


def test_a_naive_shuffle_is_caught() -> None:
    """Each place swapped with any place: 4^4 paths do not divide evenly among 24 orders."""
    counts: Counter[Hashable] = Counter()
    rng = np.random.default_rng(1)
    for _ in range(6000):
        order = [0, 1, 2, 3]
        for i in range(4):
            j = int(rng.integers(4))
            order[i], order[j] = order[j], order[i]
        counts[tuple(order)] += 1
    assert even_fit(counts, factorial(4)) < CAUGHT


def test_streams_of_consecutive_seeds_are_unrelated() -> None:
    """The first duels of neighbouring seeds, as pairs. Caught: seeds that are added to a counter."""
    firsts = [rd.Uniform(4, seed=seed).ask().first for seed in range(8001)]
    assert even_fit(Counter(zip(firsts[::2], firsts[1::2], strict=False)), 16) > ALARM
    same = [rd.Uniform(4, seed=seed // 2).ask().first for seed in range(8000)]
    assert even_fit(Counter(zip(same[::2], same[1::2], strict=True)), 16) < CAUGHT


@pytest.mark.parametrize("n_arms", [2, 3, 7, 16, 17])
@pytest.mark.parametrize(
    "kind",
    [
        "MergeDTS",
        "MergeRUCB",
        "RUCB",
        "SparringUCB1",
        "Uniform",
        "SelfSparring",
        "REX3",
        "SparringEXP3",
        "SparringTsallisINF",
    ],
)
def test_a_new_bandit_treats_all_arms_alike(kind: str, n_arms: int) -> None:
    """All is tied: every pair of arms is as likely, of different arms where a bandit never lets one meet itself."""
    options = {"batch_size": n_arms} if kind.startswith("Merge") else {}
    pairs = draws(rd.REGISTRY[kind](n_arms, seed=5, **options), 60_000)
    meets_itself = kind in ("SparringUCB1", "SelfSparring", "REX3", "SparringEXP3", "SparringTsallisINF")
    cells = n_arms**2 if meets_itself else n_arms * (n_arms - 1)
    assert meets_itself == any(first == second for first, second in pairs)
    assert even_fit(Counter(pairs), cells) > ALARM
    lowest = Counter({pair: n for pair, n in pairs.items() if pair[0] < n_arms - 1})
    if n_arms > 2:  # never the last arm
        assert even_fit(lowest, cells) < CAUGHT


def test_a_new_rmed1_with_even_results_meets_any_of_the_tied() -> None:
    """All arms have beaten one and lost to one of three: i* is any of them."""
    bandit = rd.RMED1(3, seed=6)
    ahead = {(0, 1), (1, 2), (2, 0)}
    for _ in range(3):
        duel = bandit.ask()
        bandit.tell(duel, rd.Outcome.FIRST if (duel.first, duel.second) in ahead else rd.Outcome.SECOND)
    pairs = draws(bandit, 60_000)
    # l meets i* if that is the one it lost to, and else the one it did worst against: that one too.
    assert set(pairs) == {(loser, winner) for winner, loser in ahead}
