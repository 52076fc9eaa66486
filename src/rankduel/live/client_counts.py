"""Numbers of distinct clients, counted from the table of duels."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from rankduel.live.storage.contract import Storage

__all__ = ["ClientCounts", "count_clients"]


class ClientCounts(NamedTuple):
    """Numbers of distinct clients of resolved duels. None: unknown, because some of these duels have no client.

    A duel has no client if it was asked for without one, or if retention or an erasure removed it.
    """

    total: int | None
    of_pairs: dict[tuple[int, int], int | None]


def count_clients(storage: Storage, tournament: str, pairs: Collection[tuple[int, int]]) -> ClientCounts:
    """Count the clients of all resolved duels, and of the duels of some pairs of rankers. Reads all duels."""
    everybody = _Distinct()
    of_pairs = {pair: _Distinct() for pair in pairs}
    by_sides = of_pairs | {(second, first): clients for (first, second), clients in of_pairs.items()}
    for rows in storage.clients_of_duels(tournament):
        everybody.add([client for *_, client in rows])
        chosen: dict[tuple[int, int], list[str | None]] = {}
        for first, second, client in rows:
            if (first, second) in by_sides:
                chosen.setdefault((first, second), []).append(client)
        for sides, clients in chosen.items():
            by_sides[sides].add(clients)
    return ClientCounts(everybody.count(), {pair: clients.count() for pair, clients in of_pairs.items()})


class _Distinct:
    """Counts distinct clients by their hashes, in 8 bytes for each duel."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        self._known = True

    def add(self, clients: list[str | None]) -> None:
        self._known = self._known and None not in clients
        if self._known:
            self._parts.append(np.unique(np.fromiter(map(hash, clients), np.int64, len(clients))))

    def count(self) -> int | None:
        if not self._known:
            return None
        return len(np.unique(np.concatenate(self._parts))) if self._parts else 0
