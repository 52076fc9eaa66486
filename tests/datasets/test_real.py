"""Real collections come out as they are known to be."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from naive import letor as naive
from rankduel.datasets import load_letor

pytestmark = pytest.mark.shared_data

MQ2008 = [f"mq2008/S{number}.txt" for number in range(1, 6)]


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        (MQ2008, (784, 15_211, 46, 3)),
        (["mslr_sample/mslr_merged.txt.gz"], (181, 19_704, 136, 5)),
        (["lightgbm_rank/rank_all.letor.txt"], (251, 3_773, 300, 5)),
    ],
)
def test_shapes(real_collection: Callable[[str], Path], names: list[str], shape: tuple[int, int, int, int]) -> None:
    collection = load_letor([real_collection(name) for name in names])
    assert (collection.n_queries, collection.n_documents, collection.n_rankers, collection.n_grades) == shape


@pytest.mark.parametrize("name", [MQ2008[0], "mslr_sample/mslr_merged.txt.gz", "lightgbm_rank/rank_all.letor.txt"])
def test_orders_of_a_sample(real_collection: Callable[[str], Path], name: str) -> None:
    path = real_collection(name)
    collection = load_letor(path, cache=False)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    queries = naive.read(content.decode())
    assert collection.queries == tuple(query.name for query in queries)
    assert collection.grades.tolist() == [grade for query in queries for grade in query.grades]
    for number in range(0, len(queries), 17):
        for ranker in range(collection.n_rankers):
            scores = np.array(queries[number].scores(ranker + 1))
            assert (collection.ranking(number, ranker) == np.argsort(-scores, kind="stable")).all()
            assert (collection.starts(number, ranker) == (scores[None, :] > scores[:, None]).sum(axis=1)).all()


def test_varying_features_of_the_sparse_one(real_collection: Callable[[str], Path]) -> None:
    collection = load_letor(real_collection("lightgbm_rank/rank_all.letor.txt"))
    blocks = [collection.starts(query, ranker).any() for ranker in range(300) for query in range(collection.n_queries)]
    assert np.reshape(blocks, (300, -1)).any(axis=1).sum() == 207
