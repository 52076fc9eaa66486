import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import rankduel as rd
from rankduel.datasets import Collection, synthetic

SCORES = [[1, 5, 0], [3, 5, 0], [2, 9, 0], [7, 1, 1], [8, 1, 2]]
SMALL = Collection.from_scores([0, 2, 1, 0, 0], [0, 3, 5], SCORES, queries=["a", "b"], rankers=["x", "y", "z"])


def parts(**changed: Any) -> dict[str, Any]:
    """The constructor's arguments for SMALL, some of them changed."""
    names = ("queries", "offsets", "grades", "rankers", "order", "start")
    return {name: getattr(SMALL, name) for name in names} | changed


def test_what_it_knows() -> None:
    assert (SMALL.n_queries, SMALL.n_documents, SMALL.n_rankers, SMALL.n_grades) == (2, 5, 3, 3)
    assert SMALL.queries == ("a", "b")
    assert SMALL.rankers == ("x", "y", "z")
    assert SMALL.sizes.tolist() == [3, 2]
    assert repr(SMALL) == "<Collection: 2 queries, 5 documents, 3 rankers, grades 0 to 2>"
    assert list(SMALL.documents_of(1)) == [3, 4]
    assert SMALL.grades_of(0).tolist() == [0, 2, 1]
    rankings = [[SMALL.ranking(query, ranker).tolist() for ranker in range(3)] for query in range(2)]
    assert rankings == [[[1, 2, 0], [2, 0, 1], [0, 1, 2]], [[1, 0], [0, 1], [1, 0]]]
    assert SMALL.starts(0, 1).tolist() == [1, 1, 0]
    assert SMALL.order.tolist() == [1, 2, 0, 2, 0, 1, 0, 1, 2, 1, 0, 0, 1, 1, 0]


def test_nobody_changes_it() -> None:
    grades = np.array([0, 1], np.uint8)
    collection = Collection.from_scores(grades, [0, 2], [[1.0], [2.0]])
    grades[0] = 9
    assert collection.grades.tolist() == [0, 1]
    for array in (collection.grades, collection.offsets, collection.order, collection.start, collection.sizes):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        collection.queries = ()  # type: ignore[misc]


def test_a_query_of_one_document_is_allowed() -> None:
    one = Collection.from_scores([3], [0, 1], [[5.0, 1.0]])
    assert one.ranking(0, 0).tolist() == one.ranking(0, 1).tolist() == [0]


def test_ideal_dcg_by_hand_and_by_definition() -> None:
    assert SMALL.ideal_dcg(1).tolist() == [3, 0]
    assert SMALL.ideal_dcg(10) == pytest.approx([3 + 1 / math.log2(3), 0])
    collection = synthetic(50, 1, n_documents=12, seed=3)
    for k in (1, 3, 10, 100):
        for query, ideal in enumerate(collection.ideal_dcg(k)):
            best = sorted(collection.grades_of(query).tolist(), reverse=True)[:k]
            assert ideal == pytest.approx(sum((2**grade - 1) / math.log2(i + 2) for i, grade in enumerate(best)))
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        SMALL.ideal_dcg(0)


def test_select_keeps_the_orders() -> None:
    for rankers, queries in [([2, 0], None), (None, [1]), (["y"], ["b", "a"])]:
        less = SMALL.select(rankers=rankers, queries=queries)
        for query, name in enumerate(less.queries):
            for ranker, who in enumerate(less.rankers):
                was = SMALL.queries.index(name), SMALL.rankers.index(who)
                assert less.ranking(query, ranker).tolist() == SMALL.ranking(*was).tolist()
                assert less.starts(query, ranker).tolist() == SMALL.starts(*was).tolist()
            assert less.grades_of(query).tolist() == SMALL.grades_of(SMALL.queries.index(name)).tolist()
    assert SMALL.select() == SMALL


def test_select_narrows_the_tables_again() -> None:
    n = 65_536
    wide = Collection.from_scores(np.zeros(n + 2), [0, n, n + 2], np.arange(n + 2.0)[:, None])
    assert wide.order.dtype == np.int32
    assert wide.select(queries=[0]).order.dtype == np.int32
    assert wide.select(queries=[1]).order.dtype == np.uint16


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"rankers": [3]}, IndexError, "ranker must be a number from 0 to 2, got 3"),
        ({"queries": [-1]}, IndexError, "query must be a number from 0 to 1, got -1"),
        ({"rankers": ["w"]}, ValueError, "unknown ranker 'w'; the collection has 3, such as 'x'"),
        ({"rankers": []}, ValueError, "select needs at least one ranker, got none"),
        ({"queries": []}, ValueError, "select needs at least one query, got none"),
        ({"queries": ["a", 0]}, ValueError, "names of queries must be unique, got 'a' 2 times"),
    ],
)
def test_select_refuses(asked: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SMALL.select(**asked)


def test_the_fingerprint_is_of_the_content() -> None:
    same = Collection(**parts(order=SMALL.order.astype(np.int64)))
    assert same == SMALL
    assert hash(same) == hash(SMALL)
    others = [
        Collection(**parts(queries=("a", "c"))),
        Collection(**parts(rankers=("x", "y", "w"))),
        Collection(**parts(grades=[0, 2, 1, 0, 1])),
        Collection.from_scores(SMALL.grades, SMALL.offsets, np.array(SCORES)[:, ::-1], ["a", "b"], ["x", "y", "z"]),
    ]
    assert len({collection.fingerprint for collection in [SMALL, *others]}) == 5
    assert SMALL.fingerprint == "9cddc50f56437ac251ebee0923383b07ad45809a3089eaacf11b04edef1ec324"
    assert SMALL != "a"


def test_copies_are_the_same_and_locked() -> None:
    for twin in (pickle.loads(pickle.dumps(SMALL)), copy.deepcopy(SMALL)):
        assert twin == SMALL
        assert not twin.order.flags.writeable


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"offsets": [0]}, "a collection must have at least one query, got none"),
        ({"offsets": []}, "offsets must be a 1-d array of whole numbers"),
        ({"offsets": [1, 3, 5]}, "offsets must begin with 0, got 1"),
        ({"offsets": [0, 0, 5]}, "offsets must increase: query 0 goes from 0 to 0"),
        ({"offsets": [0, 6, 5]}, "offsets must increase: query 1 goes from 6 to 5"),
        ({"offsets": [0, 2.5, 5]}, "offsets must be whole numbers, got 2.5 at 1"),
        ({"offsets": [0, 3, 6]}, "expected 6 grades, one per document, got 5"),
        ({"grades": [0, 1, 2, 3, 31]}, "grade of document 4 must be from 0 to 30, got 31"),
        ({"grades": [0, 1, 2, -1, 0]}, "grade of document 3 must be from 0 to 30, got -1"),
        ({"grades": [0, 1, 0.5, 0, 0]}, "grades must be whole numbers, got 0.5 at 2"),
        ({"grades": [0, 1, float("nan"), 0, 0]}, "grades must be whole numbers, got nan at 2"),
        ({"grades": ["0"] * 5}, "grades must be a 1-d array of whole numbers"),
        ({"queries": ("a",)}, "expected 2 names of queries, got 1"),
        ({"queries": ("a", "a")}, "names of queries must be unique, got 'a' 2 times"),
        ({"queries": (1, 2)}, "names of queries must be strings, got 1"),
        ({"rankers": ()}, "a collection must have at least one ranker, got none"),
        ({"rankers": ("x", "y")}, "order must have 2 rankers x 5 documents = 10 places, got 15"),
        ({"start": [0] * 14}, "start must have 3 rankers x 5 documents = 15 places, got 14"),
        ({"start": [0] * 15}, "query 0, ranker 0: order and start are not a ranking of the documents at place 2"),
        ({"order": [-1] * 15}, "order must be from 0 to 65535, got -1 to -1"),
        ({"order": [65_536] * 15}, "order must be from 0 to 65535"),
        ({"order": [4] * 15}, "query 0, ranker 0: order and start are not a ranking of the documents at place 0"),
    ],
)
def test_what_is_wrong_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Collection(**parts(**changed))


def test_scores_must_fit_and_be_numbers() -> None:
    with pytest.raises(ValueError, match=r"scores must have a row for each of 2 documents, got shape \(3, 1\)"):
        Collection.from_scores([0, 0], [0, 2], [[1], [2], [3]])
    with pytest.raises(ValueError, match="query 0, document 1, ranker 0: the score is NaN"):
        Collection.from_scores([0, 0], [0, 2], [[1.0], [math.nan]])
    with pytest.raises(IndexError, match="query must be a number from 0 to 1, got 2"):
        SMALL.ranking(2, 0)


def test_it_is_at_hand() -> None:
    assert rd.datasets.Collection is Collection
    assert issubclass(rd.DatasetError, rd.RankduelError)
    assert issubclass(rd.DatasetError, ValueError)
