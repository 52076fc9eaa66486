"""Simulated users of the demo: they search, see interleaved pages, and click."""

import heapq
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import numpy as np

from rankduel import clicks
from rankduel.client import Client
from rankduel.datasets import Collection

__all__ = ["EXPIRES_AFTER_SECONDS", "SimulatedUsers"]

EXPIRES_AFTER_SECONDS = 5.0  # of the tournament: later outcomes are not counted
_THREADS = 4
_SEARCHES_PER_SECOND = 750.0  # if the machine is fast enough
_USERS = 5_000
_LATE_SHARE = 0.06  # share of pages with late clicks,
_LOST_SHARE = 0.04  # with no report of clicks,
_DUPLICATE_SHARE = 0.03  # with clicks reported twice
_LATE_SECONDS = (1.0, 7.0)  # delay of late clicks: some exceed the expiry
_DOCUMENTS_PER_PAGE = 10

Tell = Callable[[], object]


class SimulatedUsers:
    """Users of a search application, in threads. As in real traffic, clicks may arrive late, twice or never."""

    def __init__(self, client: Client, collection: Collection, rankers: list[str], seed: int) -> None:
        self._client, self._collection = client, collection
        self._arms = {ranker: arm for arm, ranker in enumerate(rankers)}
        self._user = clicks.navigational(grades=collection.n_grades)
        self._seed = seed
        self._ended = threading.Event()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Let users search inside a `with` block."""
        threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(_THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()

    def _work(self, thread: int) -> None:
        random = np.random.default_rng([self._seed, thread])
        late: list[tuple[float, int, Tell]] = []  # a heap of (time, number of the search, report)
        count, due = 0, monotonic()
        while not self._ended.wait(due - monotonic()):
            count, due = count + 1, max(due, monotonic() - 0.1) + random.exponential(_THREADS / _SEARCHES_PER_SECOND)
            tell = self._search(f"search-{thread}-{count}", random)
            chance = random.random()
            if chance < _LATE_SHARE:
                heapq.heappush(late, (monotonic() + random.uniform(*_LATE_SECONDS), count, tell))
            elif chance > _LATE_SHARE + _LOST_SHARE:
                tell()
                if random.random() < _DUPLICATE_SHARE:
                    tell()
            while late and late[0][0] <= monotonic():
                heapq.heappop(late)[2]()

    def _search(self, query_id: str, random: np.random.Generator) -> Tell:
        """Show the page of one search, and return a function that reports its clicks."""
        query = int(random.integers(self._collection.n_queries))
        duel = self._client.ask(query_id, client_id=f"user-{random.integers(_USERS)}")
        page = duel.interleave(
            self._results(duel.first, query), self._results(duel.second, query), k=_DOCUMENTS_PER_PAGE
        )
        grades = self._collection.grades_of(query)
        relevance = [int(grades[int(str(document).rpartition("-")[2])]) for document in page.documents]
        clicked = [
            page.documents[position] for position in self._user.click(relevance, seed=int(random.integers(2**62)))
        ]
        return lambda: self._client.tell(duel, clicks=clicked)

    def _results(self, ranker: str, query: int) -> list[str]:
        """Results of a ranker for a query: document ids, best first."""
        found = self._collection.ranking(query, self._arms[ranker])[:_DOCUMENTS_PER_PAGE]
        return [f"document-{query}-{document}" for document in found.tolist()]
