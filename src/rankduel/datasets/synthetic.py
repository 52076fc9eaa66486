"""`synthetic`: generate a random collection that resembles web search, so that you need no download."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rankduel.datasets.collection import MAX_GRADE, Collection
from rankduel.randomness import fresh_seed, generator
from rankduel.rankings import GrowingTables

__all__ = ["synthetic"]

Floats = npt.NDArray[np.float64]

FREQUENCIES = {
    2: (0.85, 0.15),
    3: (0.81, 0.13, 0.06),  # approximately MQ2008
    5: (0.515, 0.325, 0.134, 0.018, 0.008),  # MSLR-WEB
}


def synthetic(
    n_queries: int = 1000,
    n_rankers: int = 136,
    *,
    n_documents: float = 120,
    grades: int | Sequence[float] = 5,
    quality: npt.ArrayLike | None = None,
    tieness: npt.ArrayLike | None = None,
    seed: int | None = 0,
) -> Collection:
    """Generate a collection of rankers that differ in quality and in the number of tied documents.

    n_documents: mean number of documents of a query. Sizes are uniform from half of it to one and a half times.
    grades: 2, 3 or 5, for the frequencies of well-known collections, or your own frequencies.
    quality: for each ranker, the correlation of its scores with the grades, from 0 (blind) to 1. By default, one random
        ranker has 0.6 and the others at most 0.4, so that it is the Condorcet winner for every click model.
    tieness: for each ranker, from 0 (no ties) to 1 (all documents tied). The n documents of a query have about
        n^(1 - tieness) different scores. By default, the best ranker and about a third of the others have no
        ties. The rest have up to 1, like features of a search engine.

    Equal seeds give equal collections. None draws a random seed.

    >>> collection = synthetic(n_queries=20, n_rankers=3, quality=[0.1, 0.6, 0.3], tieness=[0, 0, 1])
    >>> collection
    <Collection: 20 queries, 2,171 documents, 3 rankers, grades 0 to 4>
    >>> collection.starts(0, 2).max()  # the last ranker ties all documents
    np.uint16(0)
    """
    if min(n_queries, n_rankers, n_documents) < 1:
        counts = f"{n_queries}, {n_rankers} and {n_documents}"
        raise ValueError(f"n_queries, n_rankers and n_documents must be at least 1, got {counts}")
    draw = generator(fresh_seed() if seed is None else seed, "synthetic collection")
    frequencies = _frequencies(grades)
    best = int(draw.integers(n_rankers))
    qualities = draw.uniform(0, 0.4, n_rankers)
    qualities[best] = 0.6
    groups = np.maximum(0, draw.uniform(-0.5, 1, n_rankers))
    groups[best] = 0
    if quality is not None:
        qualities = _shares(quality, n_rankers, "quality")
    if tieness is not None:
        groups = _shares(tieness, n_rankers, "tieness")
    sizes = draw.integers(max(1, round(n_documents / 2)), max(1, round(n_documents * 3 / 2)), n_queries, endpoint=True)
    graded = draw.choice(len(frequencies), int(sizes.sum()), p=frequencies).astype(np.uint8)
    mean = frequencies @ np.arange(len(frequencies))
    deviation = np.sqrt(frequencies @ (np.arange(len(frequencies)) - mean) ** 2)
    tables, end = GrowingTables(), 0
    for size in sizes.tolist():
        begin, end = end, end + size
        signal = (graded[begin:end, None] - mean) / deviation if deviation else np.zeros((size, 1))
        scores = qualities * signal + np.sqrt(1 - qualities**2) * draw.standard_normal((size, n_rankers))
        tables.add(_tied(scores, groups), np.array([0, size]))
    offsets, order, start = tables.finished()
    names = tuple(f"ranker {number}" for number in range(n_rankers))
    return Collection(tuple(map(str, range(n_queries))), offsets, graded, names, order, start)


def _tied(scores: Floats, tieness: Floats) -> Floats:
    """Round the scores into groups. A normal variable falls into each group about equally often."""
    groups = len(scores) ** (1 - tieness)
    chance = 1 / (1 + np.exp(-1.702 * scores))  # P(a normal variable is below the score), within 0.01
    return np.where(tieness == 0, scores, np.floor(np.round(groups) * chance))


def _frequencies(grades: int | Sequence[float]) -> Floats:
    if isinstance(grades, int) and grades not in FREQUENCIES:
        raise ValueError(f"grades must be {', '.join(map(str, FREQUENCIES))} or a list of frequencies, got {grades}")
    frequencies = np.asarray(FREQUENCIES[grades] if isinstance(grades, int) else grades, np.float64)
    if frequencies.ndim != 1 or not 1 <= len(frequencies) <= MAX_GRADE + 1:
        raise ValueError(f"grades must have 1 to {MAX_GRADE + 1} frequencies, got {grades!r}")
    if not (frequencies >= 0).all() or not np.isclose(frequencies.sum(), 1):
        raise ValueError(f"frequencies in grades must be non-negative and sum to 1, got {grades!r}")
    return np.asarray(frequencies / frequencies.sum())


def _shares(numbers: npt.ArrayLike, expected: int, name: str) -> Floats:
    shares = np.array(numbers, np.float64)
    if shares.shape != (expected,) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"{name} must be {expected} numbers from 0 to 1, got {numbers!r}")
    return shares
