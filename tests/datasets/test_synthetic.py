"""A collection made of chance is what it says it is."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rankduel.datasets import Collection, synthetic


def ndcg(collection: Collection, k: int = 10) -> npt.NDArray[np.float64]:
    """NDCG@k of every query and ranker."""
    found = np.zeros((collection.n_queries, collection.n_rankers))
    ideal = collection.ideal_dcg(k)
    for query in range(collection.n_queries):
        gains = 2.0 ** collection.grades_of(query) - 1
        for ranker in range(collection.n_rankers):
            top = gains[collection.ranking(query, ranker)[:k]]
            found[query, ranker] = (top / np.log2(np.arange(2, len(top) + 2))).sum() / (ideal[query] or 1)
    return found


def test_the_seed_decides() -> None:
    assert synthetic(20, 5, seed=7) == synthetic(20, 5, seed=7)
    assert synthetic(20, 5, seed=7) != synthetic(20, 5, seed=8)
    assert synthetic(20, 5, seed=None) != synthetic(20, 5, seed=None)


def test_shapes_and_frequencies() -> None:
    # A frequency p of n grades has deviation sqrt(p (1 - p) / n); 6 of them is a false alarm in 5e8, and the seed is
    # fixed.
    cases: list[tuple[int | list[float], list[float]]] = [
        (5, [0.515, 0.325, 0.134, 0.018, 0.008]),
        ([0.5, 0.25, 0.25, 0], [0.5, 0.25, 0.25]),
    ]
    for grades, frequencies in cases:
        collection = synthetic(800, 2, grades=grades, seed=1)
        assert collection.n_grades == len(frequencies)
        n = collection.n_documents
        assert abs(n - 800 * 120) < 6 * np.sqrt(800 * (121**2 - 1) / 12)
        assert collection.sizes.min() >= 60
        assert collection.sizes.max() <= 180
        seen = np.bincount(collection.grades) / n
        p = np.array(frequencies)
        assert (abs(seen - p) < 6 * np.sqrt(p * (1 - p) / n)).all()
    assert synthetic(5, 1, grades=2).n_grades == 2
    assert synthetic(50, 1, grades=3).n_grades == 3
    assert synthetic(30, 1, n_documents=1).sizes.max() <= 2


def test_quality_orders_the_rankers() -> None:
    # Correlations 0, 0.2, ..., 0.8: NDCG@10 rises by steps of far more than 10 standard errors (about 0.007 each).
    collection = synthetic(400, 5, quality=[0.0, 0.2, 0.4, 0.6, 0.8], tieness=np.zeros(5), seed=2)
    means = ndcg(collection).mean(axis=0)
    assert (np.diff(means) > 0.05).all(), means


def test_one_ranker_is_clearly_the_best() -> None:
    scores = ndcg(synthetic(400, 40, seed=5))
    best = int(scores.mean(axis=0).argmax())
    rivals = np.delete(scores, best, axis=1)
    # In mean, and query by query against each rival: what a Condorcet winner needs.
    assert scores[:, best].mean() > rivals.mean(axis=0).max() + 0.05
    ahead = (scores[:, [best]] > rivals).mean(axis=0) - (scores[:, [best]] < rivals).mean(axis=0)
    assert ahead.min() > 0.1


def test_tieness_is_a_number_of_groups() -> None:
    tieness = np.array([0, 0.25, 0.5, 0.75, 1])
    collection = synthetic(200, 5, n_documents=100, quality=np.zeros(5), tieness=tieness, seed=4)
    groups = np.zeros(5)
    for query in range(200):
        groups += [len(set(collection.starts(query, ranker).tolist())) for ranker in range(5)]
    groups /= 200
    assert groups[0] == collection.sizes.mean()
    assert groups[4] == 1
    for number, expected in [(1, 100**0.75), (2, 10), (3, 100**0.25)]:
        assert 0.75 * expected < groups[number] <= 1.2 * expected


def test_default_tieness_is_like_features() -> None:
    collection = synthetic(5, 300, seed=6)
    strict = [collection.starts(0, ranker).tolist() for ranker in range(300)]
    share = np.mean([len(set(start)) == len(start) for start in strict])
    assert 0.2 < share < 0.5  # a third, 4.9 standard deviations


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_queries": 0}, "must be at least 1, got 0, 3 and"),
        ({"n_rankers": 0}, "must be at least 1, got 2, 0 and"),
        ({"n_documents": 0.5}, "must be at least 1, got 2, 3 and 0.5"),
        ({"grades": 4}, "grades must be 2, 3, 5 or a list of frequencies, got 4"),
        ({"grades": [0.5, 0.6]}, "frequencies in grades must be non-negative and sum to 1"),
        ({"grades": []}, "grades must have 1 to 31 frequencies"),
        ({"quality": [0.5]}, "quality must be 3 numbers from 0 to 1"),
        ({"quality": [0.5, 0.5, 1.5]}, "quality must be 3 numbers from 0 to 1"),
        ({"tieness": [0.5, 0.5, float("nan")]}, "tieness must be 3 numbers from 0 to 1"),
        ({"seed": -1}, "seed must be a non-negative int"),
    ],
)
def test_what_cannot_be(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synthetic(**({"n_queries": 2, "n_rankers": 3} | asked))
