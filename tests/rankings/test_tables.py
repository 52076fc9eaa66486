"""Tables of places against the definition."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.rankings import ranked
from rankduel.rankings import GrowingTables, misplaced, place_type, rank_scores

FEW = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.5, 1e-300, float("inf"), float("-inf")])
ANY = st.floats(allow_nan=False)


def tables(
    scores: npt.NDArray[np.float64], offsets: list[int], kind: type[np.uint16] | type[np.int32] = np.uint16
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    order, start = np.full((2, scores.size), 9, kind)
    rank_scores(scores, np.array(offsets), order, start)
    assert misplaced(np.array(offsets), scores.shape[1], order, start) is None
    return order.astype(np.int64), start.astype(np.int64)


def expected(scores: npt.NDArray[np.float64], offsets: list[int]) -> tuple[list[int], list[int]]:
    """Block by block, ranker by ranker."""
    order, start = [], []
    for begin, end in pairwise(offsets):
        for column in scores[begin:end].T.tolist():
            places, groups = ranked(column)
            order += places
            start += groups
    return order, start


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data(), st.integers(1, 4), st.lists(st.integers(0, 45), min_size=1, max_size=4), st.sampled_from([FEW, ANY]))
@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_as_the_definition_says(
    kind: type[np.uint16] | type[np.int32],
    data: st.DataObject,
    n_rankers: int,
    sizes: list[int],
    numbers: st.SearchStrategy[float],
) -> None:
    offsets = np.cumsum([0, *sizes]).tolist()
    many = offsets[-1] * n_rankers
    values = data.draw(st.lists(numbers, min_size=many, max_size=many))
    scores = np.array(values).reshape(offsets[-1], n_rankers)
    order, start = tables(scores, offsets, kind)
    assert (order.tolist(), start.tolist()) == expected(scores, offsets)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 17, 63, 64, 65, 1000])
@pytest.mark.parametrize("values", [2, 10, 10**9])
def test_lengths_around_the_merges(n: int, values: int) -> None:
    scores = np.random.default_rng(n + values).integers(values, size=(n, 5)).astype(float)
    scores[:, 1] = -np.sort(-scores[:, 1])
    scores[:, 2] = np.sort(scores[:, 2])
    order, start = tables(scores, [0, n])
    assert (order.tolist(), start.tolist()) == expected(scores, [0, n])
    assert (order.reshape(5, n) == [np.argsort(-column, kind="stable") for column in scores.T]).all()


def test_zeros_tie_and_infinities_are_numbers() -> None:
    order, start = tables(np.array([[-0.0, -np.inf, 0.0, np.inf, 0.0]]).T, [0, 5])
    assert order.tolist() == [3, 0, 2, 4, 1]
    assert start.tolist() == [1, 4, 1, 0, 1]


def test_nan_is_named() -> None:
    scores = np.zeros((5, 3))
    scores[4, 2] = np.nan
    with pytest.raises(ValueError, match="query 1, document 2, ranker 2: the score is NaN"):
        tables(scores, [0, 2, 5])


@pytest.mark.parametrize(
    ("offsets", "capacity", "message"),
    [
        ([0, 2], 3, r"offsets must go from 0 to the number of documents, 3, got \[0 2\]"),
        ([1, 3], 3, "offsets must go from 0"),
        ([], 3, "offsets must go from 0"),
        ([0, 2, 1, 3], 3, "offsets must not decrease, got 1 after 2"),
        ([0, 3], 2, "3 documents and 1 rankers need tables of 3 places, got 2 and 2"),
    ],
)
def test_shapes_must_fit(offsets: list[int], capacity: int, message: str) -> None:
    order = np.empty(capacity, np.uint16)
    with pytest.raises(ValueError, match=message):
        rank_scores(np.zeros((3, 1)), np.array(offsets, np.int64), order, order.copy())


def test_long_queries_need_wide_tables() -> None:
    n = 65_536
    scores = (np.arange(n) % 3)[:, None].astype(float)
    narrow = np.empty(n, np.uint16)
    with pytest.raises(ValueError, match="a query of 65536 documents needs int32 tables, got uint16"):
        rank_scores(scores, np.array([0, n]), narrow, narrow.copy())
    assert place_type(n) is np.int32
    order, start = tables(scores, [0, n], np.int32)
    assert (order == np.argsort(-scores[:, 0], kind="stable")).all()
    assert set(start.tolist()) == {0, n // 3, n // 3 + n // 3}


@pytest.mark.parametrize(
    ("order", "start", "wrong"),
    [
        ([0, 1, 2], [0, 0, 0], None),
        ([2, 0, 1], [1, 1, 0], None),
        ([0, 1, 3], [0, 1, 2], (1, 0, 2)),  # no such document
        ([0, -1, 2], [0, 1, 2], (1, 0, 1)),
        ([0, 0, 2], [0, 0, 2], (1, 0, 1)),  # twice
        ([0, 2, 0], [0, 1, 1], (1, 0, 2)),
        ([1, 0, 2], [0, 0, 2], (1, 0, 1)),  # tied, not in file order
        ([0, 1, 2], [0, 2, 2], (1, 0, 1)),  # a group that begins elsewhere
        ([0, 1, 2], [0, 1, 0], (1, 0, 2)),  # a group that was left before
    ],
)
def test_misplaced(order: list[int], start: list[int], wrong: tuple[int, int, int] | None) -> None:
    tables = (np.array([0, *numbers], np.int32) for numbers in (order, start))
    assert misplaced(np.array([0, 1, 4]), 1, *tables) == wrong


@pytest.mark.parametrize("widths", [[1, 1, 1], [2, 2, 5], [0, 1, 3]])
def test_growing_is_as_if_all_had_been_there(widths: list[int]) -> None:
    # Rankers that come later tie what was before: as if their scores had been 0 there.
    draw = np.random.default_rng(sum(widths))
    growing, all_scores, sizes = GrowingTables(), [], []
    for width in widths:
        portion = draw.integers(1, 30, 4)
        scores = draw.integers(0, 4, (portion.sum(), width)).astype(float)
        growing.add(scores, np.cumsum([0, *portion]))
        all_scores.append(np.pad(scores, [(0, 0), (0, widths[-1] - width)]))
        sizes += portion.tolist()
    offsets, order, start = growing.finished()
    assert offsets.tolist() == np.cumsum([0, *sizes]).tolist()
    assert (order.tolist(), start.tolist()) == expected(np.concatenate(all_scores), offsets.tolist())
    assert order.dtype == np.uint16
    assert not order.flags.writeable


def test_growing_widens_its_type_for_a_long_query() -> None:
    growing, n = GrowingTables(), 65_536
    growing.add(np.array([[1.0], [2.0]]), np.array([0, 2]))
    growing.add(np.arange(n, dtype=float)[:, None], np.array([0, n]))
    _, order, start = growing.finished()
    assert order.dtype == start.dtype == np.int32
    assert order[:4].tolist() == [1, 0, n - 1, n - 2]
