"""Batches of the merging bandits: every arm left is in one, and small ones are merged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankduel as rd


@pytest.mark.parametrize(("n_arms", "sizes"), [(1, [1]), (16, [16]), (17, [17]), (40, [8, 16, 16])])
def test_arms_are_dealt_into_batches_and_a_single_one_joins_the_next(n_arms: int, sizes: list[int]) -> None:
    bandit = rd.MergeDTS(n_arms, batch_size=16, seed=1)
    assert sorted(map(len, bandit.batches)) == sizes
    assert sorted(np.concatenate(bandit.batches).tolist()) == list(range(n_arms))


@pytest.mark.parametrize("bandit_class", [rd.MergeDTS, rd.MergeRUCB])
@settings(max_examples=25)
@given(n_arms=st.integers(2, 120), batch_size=st.integers(2, 20), seed=st.integers(0, 1000))
def test_batches_hold_the_arms_left_and_halve_with_them(
    bandit_class: type[rd.MergeDTS] | type[rd.MergeRUCB], n_arms: int, batch_size: int, seed: int
) -> None:
    """Told that the lower number always wins, so that arms go quickly and every merge is seen."""
    bandit = bandit_class(n_arms, batch_size=batch_size, c=10, seed=seed)
    stages = [n_arms]
    for _ in range(100 * n_arms):  # MergeRUCB takes 63 n at most in 150 random cases
        duel = bandit.ask()
        bandit.tell(duel, rd.Outcome.FIRST if duel.first < duel.second else rd.Outcome.SECOND)
        batches = bandit.batches
        assert sorted(arm for batch in batches for arm in batch) == bandit.alive.tolist()
        assert len(batches) == 1 or min(map(len, batches)) > 1, "a single arm joins the next batch at once"
        if 2 * len(bandit.alive) <= stages[-1]:
            stages.append(len(bandit.alive))
            sizes = sorted(map(len, batches))
            assert len(sizes) == 1 or sizes[0] + sizes[1] > 1.5 * batch_size or sizes[0] >= batch_size / 2
        if bandit.winner is not None:
            break
    assert bandit.winner == 0
