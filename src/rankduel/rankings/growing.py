"""Ranking tables that grow batch by batch, so that not all scores are in memory at once."""

from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.rankings.arrays import Offsets, Places
from rankduel.rankings.tables import place_type, rank_scores, widen

__all__ = ["GrowingTables"]


class GrowingTables:
    """Ranking tables of all queries added so far. Scores are not stored.

    Later batches may have more rankers than earlier ones. A new ranker ties all documents of earlier queries.

    >>> tables = GrowingTables()
    >>> tables.add(np.array([[1.0], [2.0]]), np.array([0, 2]))
    >>> tables.add(np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([0, 1, 2]))
    >>> offsets, order, start = tables.finished()
    >>> offsets.tolist(), order.tolist(), start.tolist()
    ([0, 2, 3, 4], [1, 0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(self) -> None:
        self.n_rankers = 0
        self._sizes: list[npt.NDArray[np.int64]] = []
        self._documents = 0
        self._tables: list[npt.NDArray[Any]] = [np.empty(0, np.uint16), np.empty(0, np.uint16)]

    def add(self, scores: npt.NDArray[np.float64], offsets: Offsets) -> None:
        """Rank a batch of queries by scores[document, ranker]. `offsets` has the first row of each query. No NaN."""
        sizes = np.diff(offsets)
        if sizes.size and place_type(int(sizes.max())) is np.int32:
            self._tables = [table.astype(np.int32, copy=False) for table in self._tables]
        if scores.shape[1] > self.n_rankers:
            self._widen(scores.shape[1])
        begin, end = self._documents * self.n_rankers, (self._documents + len(scores)) * self.n_rankers
        self._reserve(end)
        order, start = (table[begin:end] for table in self._tables)
        rank_scores(scores, offsets, order, start)
        self._documents += len(scores)
        self._sizes.append(sizes)

    def finished(self) -> tuple[Offsets, Places, Places]:
        """Return the offsets of all queries, `order` and `start`, read-only. Do not call `add` afterwards."""
        (order, start), self._tables = self._tables, []
        for table in (order, start):
            table.resize(self._documents * self.n_rankers, refcheck=False)
            table.flags.writeable = False
        return self._offsets(), order, start

    def _offsets(self) -> Offsets:
        return np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *self._sizes]))]).astype(np.int64)

    def _widen(self, n_rankers: int) -> None:
        self._reserve(self._documents * n_rankers)
        widen(self._offsets(), self.n_rankers, n_rankers, *self._tables)
        self.n_rankers = n_rankers

    def _reserve(self, places: int) -> None:
        # Grow by an eighth. The system grows large arrays in place, so that small steps are cheap and need no copy.
        if places > len(self._tables[0]):
            for table in self._tables:
                table.resize(places + places // 8, refcheck=False)
