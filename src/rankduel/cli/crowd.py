"""Simulated users of the demo: they search, see pages made of two rankers, and click, over HTTP."""

import threading
from collections.abc import Callable
from time import monotonic, sleep

import numpy as np

from rankduel import clicks
from rankduel.client import Client
from rankduel.datasets import Collection

__all__ = ["Crowd"]

_LATE = 0.05  # the share of the pages whose clicks come late,
_LOST = 0.05  # or never,
_TWICE = 0.05  # or twice
_PATIENCE = (1.0, 3.0)  # seconds until late clicks come
_PLACES = 10  # documents of a page


class Crowd:
    """Users of one application, in some threads. Half of what can go wrong with clicks on the web goes wrong here."""

    def __init__(self, client: Client, collection: Collection, rankers: list[str], seed: int) -> None:
        self._client, self._collection = client, collection
        self._arms = {ranker: arm for arm, ranker in enumerate(rankers)}
        self._user = clicks.navigational(grades=collection.n_grades)
        self._seed = seed
        self._ended = threading.Event()
        self.pages = 0

    def play(self, threads: int, watch: Callable[[], bool]) -> None:
        """Search until `watch`, which is called twice a second, says that it is enough."""
        workers = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(threads)]
        for worker in workers:
            worker.start()
        try:
            while watch():
                sleep(0.5)
        finally:
            self._ended.set()
            for worker in workers:
                worker.join()

    def _work(self, number: int) -> None:
        random = np.random.default_rng([self._seed, number])
        late: list[tuple[float, Callable[[], object]]] = []
        count = 0
        while not self._ended.is_set():
            count += 1
            tell = self._search(f"user-{number}-search-{count}", random)
            self.pages += 1
            chance = random.random()
            if chance < _LATE:
                late.append((monotonic() + random.uniform(*_PATIENCE), tell))
            elif chance > _LATE + _LOST:
                tell()
                if random.random() < _TWICE:
                    tell()
            while late and late[0][0] <= monotonic():
                late.pop(0)[1]()

    def _search(self, query_id: str, random: np.random.Generator) -> Callable[[], object]:
        """One search: the page is shown, and what tells of its clicks is handed back."""
        query = int(random.integers(self._collection.n_queries))
        duel = self._client.ask(query_id)
        page = duel.interleave(self._best(query, duel.first), self._best(query, duel.second), k=_PLACES)
        grades = self._collection.grades_of(query)
        documents = [int(str(document)) for document in page.documents]
        places = self._user.click([int(grades[document]) for document in documents], seed=int(random.integers(2**62)))
        clicked = [page.documents[place] for place in places]
        return lambda: self._client.tell(duel, clicks=clicked)

    def _best(self, query: int, ranker: str) -> list[str]:
        """The first documents of a ranker for a query."""
        return [str(document) for document in self._collection.ranking(query, self._arms[ranker])[: 2 * _PLACES]]
