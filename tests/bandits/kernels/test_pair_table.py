"""The hash table of pairs: what goes in comes out, sorted, however often it has grown."""

import numpy as np
import pytest

from rankduel.bandits.kernels.pair_table import PairTable


def test_a_new_table_is_empty() -> None:
    assert PairTable().table().shape == (0, 4)


@pytest.mark.parametrize("n_arms", [2, 60, 400])
def test_a_table_comes_back_sorted_after_it_has_grown(n_arms: int) -> None:
    low, high = np.triu_indices(n_arms, 1)
    random = np.random.default_rng(n_arms)
    rows = np.column_stack([low, high, random.integers(0, 2**32, (len(low), 2))])
    pairs = PairTable()
    pairs.load(random.permutation(rows))
    assert pairs.table().tolist() == rows.tolist()


def test_arms_with_high_numbers_are_told_apart() -> None:
    rows = [[0, 2**31 - 2, 1, 2], [2**31 - 3, 2**31 - 2, 3, 4]]
    pairs = PairTable()
    pairs.load(np.array(rows))
    assert pairs.table().tolist() == rows
