"""`Collection`: queries, graded documents, and how every ranker orders them. Validated once, read-only."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.rankings import GrowingTables, Offsets, Places, misplaced, place_type

__all__ = ["MAX_GRADE", "Collection"]

MAX_GRADE = 30  # gains are 2^grade - 1


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Queries with graded documents, and rankers that order them.

    Query q has the documents `offsets[q]`, ..., `offsets[q + 1] - 1` with their `grades`. Grade 0 is irrelevant. Two
    flat tables, `order` and `start`, have the order of every ranker (see `rankduel.rankings.tables`). Their type is
    uint16, or int32 if a query has more than 65,535 documents. A query may have a single document: then all rankers
    tie. Arrays are C-contiguous and read-only, and may be memory-mapped.

    >>> collection = Collection.from_scores(grades=[0, 2, 1], offsets=[0, 3], scores=[[1, 5], [3, 5], [2, 9]])
    >>> collection
    <Collection: 1 query, 3 documents, 2 rankers, grades 0 to 2>
    >>> collection.ranking(0, 0).tolist(), collection.ranking(0, 1).tolist()
    ([1, 2, 0], [2, 0, 1])
    >>> collection.ideal_dcg(10).round(3).tolist()
    [3.631]
    """

    queries: tuple[str, ...]
    offsets: Offsets
    grades: npt.NDArray[np.uint8]
    rankers: tuple[str, ...]
    order: Places
    start: Places

    def __post_init__(self) -> None:
        offsets, grades = _checked_offsets(self.offsets), _whole(self.grades, "grades")
        if len(grades) != offsets[-1]:
            raise ValueError(f"expected {offsets[-1]} grades, one per document, got {len(grades)}")
        for place in np.flatnonzero((grades < 0) | (grades > MAX_GRADE))[:1].tolist():
            raise ValueError(f"grade of document {place} must be from 0 to {MAX_GRADE}, got {grades[place]}")
        queries = _names(self.queries, len(offsets) - 1, "queries")
        rankers = _names(self.rankers, len(self.rankers), "rankers")
        if not rankers:
            raise ValueError("a collection must have at least one ranker, got none")
        kind = place_type(int(np.diff(offsets).max()))
        order, start = (_places(getattr(self, name), name, kind) for name in ("order", "start"))
        for name, table in (("order", order), ("start", start)):
            if len(table) != len(rankers) * offsets[-1]:
                expected = f"{len(rankers)} rankers x {offsets[-1]} documents = {len(rankers) * offsets[-1]}"
                raise ValueError(f"{name} must have {expected} places, got {len(table)}")
        if (wrong := misplaced(offsets, len(rankers), order, start)) is not None:
            where = "query {}, ranker {}: order and start are not a ranking of the documents at place {}"
            raise ValueError(where.format(*wrong))
        checked = (queries, offsets, grades.astype(np.uint8, copy=False), rankers, order, start)
        for name, value in zip(("queries", "offsets", "grades", "rankers", "order", "start"), checked, strict=True):
            object.__setattr__(self, name, _locked(value) if isinstance(value, np.ndarray) else value)

    @classmethod
    def from_scores(
        cls,
        grades: npt.ArrayLike,
        offsets: npt.ArrayLike,
        scores: npt.ArrayLike,
        queries: Iterable[str] | None = None,
        rankers: Iterable[str] | None = None,
    ) -> "Collection":
        """Create a collection of rankers that sort by `scores[document, ranker]`, highest first. Equal scores tie.

        Default names are numbers. Infinite scores are valid, NaN is not.
        """
        numbers = np.ascontiguousarray(scores, np.float64)
        bounds = _checked_offsets(offsets)
        if numbers.ndim != 2 or len(numbers) != bounds[-1]:
            raise ValueError(f"scores must have a row for each of {bounds[-1]} documents, got shape {numbers.shape}")
        tables = GrowingTables()
        tables.add(numbers, bounds)
        return cls(
            tuple(map(str, range(len(bounds) - 1))) if queries is None else tuple(queries),
            bounds,
            np.asarray(grades),
            tuple(map(str, range(numbers.shape[1]))) if rankers is None else tuple(rankers),
            *tables.finished()[1:],
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def n_documents(self) -> int:
        """Number of documents of all queries together."""
        return len(self.grades)

    @property
    def n_rankers(self) -> int:
        """Number of rankers, which are the arms."""
        return len(self.rankers)

    @cached_property
    def n_grades(self) -> int:
        """Number of grades: grades are 0, ..., n_grades - 1."""
        return int(self.grades.max()) + 1

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of documents of each query."""
        return _locked(np.diff(self.offsets))

    def documents_of(self, query: int) -> range:
        """Indices of the documents of a query in `grades`."""
        query = _number(query, self.n_queries, "query")
        return range(int(self.offsets[query]), int(self.offsets[query + 1]))

    def grades_of(self, query: int) -> npt.NDArray[np.uint8]:
        """Grades of the documents of a query, in file order."""
        documents = self.documents_of(query)
        return self.grades[documents.start : documents.stop]

    def ranking(self, query: int, ranker: int) -> Places:
        """Documents of a query in the order of a ranker, as numbers from 0. Tied documents are in file order."""
        return self._row(self.order, query, ranker)

    def starts(self, query: int, ranker: int) -> Places:
        """First place of the tie group of each document of a query."""
        return self._row(self.start, query, ranker)

    def ideal_dcg(self, k: int) -> npt.NDArray[np.float64]:
        """DCG@k of the best list of each query: gain 2^grade - 1 over log2(place + 1), with places from 1.

        It is 0 if no document is relevant. NDCG@k is the DCG of a list divided by this, or by convention 0 if this is
        0.
        """
        if index(k) < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        discounts = np.zeros(k + 1)
        discounts[1:] = np.cumsum(1 / np.log2(np.arange(2, k + 2)))
        cells = np.repeat(np.arange(self.n_queries), self.sizes) * self.n_grades + self.grades
        counts = np.bincount(cells, minlength=self.n_queries * self.n_grades).reshape(-1, self.n_grades)
        # The best list has all documents of the highest grade, then of the next grade: a range of places for each.
        ends = np.minimum(np.cumsum(counts[:, ::-1], axis=1)[:, ::-1], k)
        begins = np.concatenate([ends[:, 1:], np.zeros((self.n_queries, 1), np.int64)], axis=1)
        return np.asarray((discounts[ends] - discounts[begins]) @ (2.0 ** np.arange(self.n_grades) - 1))

    def select(
        self, *, rankers: Sequence[int | str] | None = None, queries: Sequence[int | str] | None = None
    ) -> "Collection":
        """Create a smaller collection with only these rankers and queries, by number or name, in this order.

        >>> collection = Collection.from_scores([1, 0], [0, 1, 2], [[1, 2], [3, 4]], rankers=["bm25", "pagerank"])
        >>> collection.select(rankers=["pagerank"], queries=[1])
        <Collection: 1 query, 1 document, 1 ranker, grade 0>
        """
        kept = _chosen(rankers, self.rankers, "ranker")
        asked = _chosen(queries, self.queries, "query")
        offsets = np.concatenate([[0], np.cumsum(self.sizes[asked])])
        documents = [np.asarray(self.documents_of(query)) for query in asked]
        return Collection(
            tuple(self.queries[query] for query in asked),
            offsets,
            self.grades[np.concatenate(documents)],
            tuple(self.rankers[ranker] for ranker in kept),
            *(
                np.concatenate([self._block(table, query)[kept].ravel() for query in asked])
                for table in (self.order, self.start)
            ),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content. It is the same on every machine."""
        digest = hashlib.sha256(repr(("Collection", self.queries, self.rankers)).encode())
        for array in (self.offsets, self.grades, self.order, self.start):
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).view(np.uint8).data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        grades = f"grades 0 to {self.n_grades - 1}" if self.n_grades > 1 else "grade 0"
        counts = [(self.n_queries, "query", "queries"), (self.n_documents, "document", "documents")]
        counts.append((self.n_rankers, "ranker", "rankers"))
        return f"<Collection: {', '.join(f'{n:,} {one if n == 1 else many}' for n, one, many in counts)}, {grades}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Collection) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[object, ...]:  # pickled arrays are not read-only
        return Collection, (self.queries, self.offsets, self.grades, self.rankers, self.order, self.start)

    def _block(self, table: Places, query: int) -> Places:
        documents, R = self.documents_of(query), self.n_rankers
        return table[R * documents.start : R * documents.stop].reshape(R, -1)

    def _row(self, table: Places, query: int, ranker: int) -> Places:
        row: Places = self._block(table, query)[_number(ranker, self.n_rankers, "ranker")]
        return row


def _locked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a C-contiguous, read-only array. Copy it only if it is writable or not contiguous."""
    if array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
        array.flags.writeable = False
    return array


def _whole(numbers: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return a 1-d array of whole numbers. Floats without a fraction are accepted."""
    array = np.asarray(numbers)
    if array.ndim != 1 or array.dtype.kind not in "iuf" or not array.size:
        raise ValueError(f"{name} must be a 1-d array of whole numbers, got {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "f":
        for place in np.flatnonzero(~(array == np.floor(array)) | np.isinf(array))[:1].tolist():
            raise ValueError(f"{name} must be whole numbers, got {array[place]} at {place}")
    return array


def _checked_offsets(numbers: npt.ArrayLike) -> Offsets:
    offsets = _whole(numbers, "offsets").astype(np.int64)
    if offsets[0] != 0:
        raise ValueError(f"offsets must begin with 0, got {offsets[0]}")
    if len(offsets) < 2:
        raise ValueError("a collection must have at least one query, got none")
    for query in np.flatnonzero(np.diff(offsets) < 1)[:1].tolist():
        raise ValueError(f"offsets must increase: query {query} goes from {offsets[query]} to {offsets[query + 1]}")
    return offsets


def _places(numbers: npt.ArrayLike, name: str, kind: type[np.uint16] | type[np.int32]) -> npt.NDArray[Any]:
    array = np.asarray(numbers)
    if array.dtype == kind and array.ndim == 1:
        return array
    array = _whole(array, name)
    if array.min() < 0 or array.max() > np.iinfo(kind).max:
        raise ValueError(f"{name} must be from 0 to {np.iinfo(kind).max}, got {array.min()} to {array.max()}")
    return array.astype(kind)


def _names(names: Iterable[str], expected: int, what: str) -> tuple[str, ...]:
    names = tuple(names)
    if len(names) != expected:
        raise ValueError(f"expected {expected} names of {what}, got {len(names)}")
    for name, times in Counter(names).items():
        if not isinstance(name, str):
            raise ValueError(f"names of {what} must be strings, got {name!r}")
        if times > 1:
            raise ValueError(f"names of {what} must be unique, got {name!r} {times} times")
    return names


def _number(number: int, count: int, what: str) -> int:
    if not 0 <= index(number) < count:
        raise IndexError(f"{what} must be a number from 0 to {count - 1}, got {number}")
    return index(number)


def _chosen(asked: Sequence[int | str] | None, names: tuple[str, ...], what: str) -> list[int]:
    if asked is None:
        return list(range(len(names)))
    if not len(asked):
        raise ValueError(f"select needs at least one {what}, got none")
    numbers = {name: number for number, name in enumerate(names)}
    for one in asked:
        if isinstance(one, str) and one not in numbers:
            raise ValueError(f"unknown {what} {one!r}; the collection has {len(names)}, such as {names[0]!r}")
    return [numbers[one] if isinstance(one, str) else _number(one, len(names), what) for one in asked]
