"""Simulated users of the demo: they search, see pages made of two rankers, and click."""

import heapq
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import numpy as np

from rankduel import clicks
from rankduel.client import Client
from rankduel.datasets import Collection

__all__ = ["PATIENCE", "Crowd"]

PATIENCE = 5.0  # seconds after which the tournament should count on no clicks
_THREADS = 4
_RATE = 750.0  # searches a second, if the machine can do as many
_USERS = 5_000
_LATE = 0.06  # the share of the pages whose clicks come late,
_LOST = 0.04  # or never,
_TWICE = 0.03  # or twice
_DELAYS = (1.0, 7.0)  # seconds until late clicks come: some too late
_PLACES = 10  # documents of a page

Tell = Callable[[], object]


class Crowd:
    """The users of a search application, in some threads. Clicks come late, twice or never, as they do elsewhere."""

    def __init__(self, client: Client, collection: Collection, rankers: list[str], seed: int) -> None:
        self._client, self._collection = client, collection
        self._arms = {ranker: arm for arm, ranker in enumerate(rankers)}
        self._user = clicks.navigational(grades=collection.n_grades)
        self._seed = seed
        self._ended = threading.Event()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """They search as long as this lasts."""
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
        late: list[tuple[float, int, Tell]] = []  # a heap: when, the number of the search, what
        count, due = 0, monotonic()
        while not self._ended.wait(due - monotonic()):
            count, due = count + 1, max(due, monotonic() - 0.1) + random.exponential(_THREADS / _RATE)
            tell = self._search(f"search-{thread}-{count}", random)
            chance = random.random()
            if chance < _LATE:
                heapq.heappush(late, (monotonic() + random.uniform(*_DELAYS), count, tell))
            elif chance > _LATE + _LOST:
                tell()
                if random.random() < _TWICE:
                    tell()
            while late and late[0][0] <= monotonic():
                heapq.heappop(late)[2]()

    def _search(self, query_id: str, random: np.random.Generator) -> Tell:
        """One search: the page is made and seen; what tells of its clicks is handed back."""
        query = int(random.integers(self._collection.n_queries))
        duel = self._client.ask(query_id, client_id=f"user-{random.integers(_USERS)}")
        page = duel.interleave(self._results(duel.first, query), self._results(duel.second, query), k=_PLACES)
        grades = self._collection.grades_of(query)
        seen = [int(grades[int(str(document).rpartition("-")[2])]) for document in page.documents]
        clicked = [page.documents[place] for place in self._user.click(seen, seed=int(random.integers(2**62)))]
        return lambda: self._client.tell(duel, clicks=clicked)

    def _results(self, ranker: str, query: int) -> list[str]:
        """What a ranker finds for a query: ids of documents, best first."""
        found = self._collection.ranking(query, self._arms[ranker])[:_PLACES]
        return [f"document-{query}-{document}" for document in found.tolist()]
