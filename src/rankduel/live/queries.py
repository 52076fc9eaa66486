"""Which queries have a duel, where one process asks alone: that most are new is known without a look at the disk."""

from threading import RLock

from rankduel.live.duels import DuelRow
from rankduel.live.recent import Recent
from rankduel.live.storage import Storage

__all__ = ["Filter", "Queries"]

_RECENT = 20_000  # queries that are remembered with their duels, while these are on the way to the disk
_AT_ONCE = 500  # queries from before that are taken in while asks wait
_EACH_TIME = 20_000  # and between two looks
_FIRST = 2**17  # queries in the first layer of a filter
_BITS = 8  # for each of them


class Filter:
    """Tells what was surely never put here (Bloom, 1970): what was is always found, and few others. It grows.

    >>> asked = Filter()
    >>> asked.add("q-81")
    >>> "q-81" in asked, "q-82" in asked
    (True, False)
    """

    def __init__(self) -> None:
        self._layers: list[tuple[bytearray, int]] = []  # bits, and the mask of their places; each twice the one before
        self._room = 0  # in the last one

    def add(self, key: str) -> None:
        """Put something here."""
        if not self._room:
            self._room = _FIRST << len(self._layers)
            self._layers.append((bytearray(self._room * _BITS // 8), self._room * _BITS - 1))
        self._room -= 1
        bits, mask = self._layers[-1]
        first = hash(key)
        second = first >> 29
        bits[(first & mask) >> 3] |= 1 << (first & 7)
        bits[(second & mask) >> 3] |= 1 << (second & 7)

    def __contains__(self, key: str) -> bool:
        first = hash(key)
        second = first >> 29
        for bits, mask in self._layers:
            if bits[(first & mask) >> 3] >> (first & 7) & 1 and bits[(second & mask) >> 3] >> (second & 7) & 1:
                return True
        return False


class Queries:
    """Of one tournament, in the only process that asks. Whoever calls `note` or `duels_of` holds the lock."""

    def __init__(self, storage: Storage, tournament: str, lock: RLock) -> None:
        self._storage, self._tournament, self._lock = storage, tournament, lock
        self._recent: Recent[str, DuelRow] = Recent(_RECENT)
        self._asked = Filter()
        self._loaded: str | None = ""  # those from before up to this one, in alphabetical order, are known; None: all

    def note(self, query: str, row: DuelRow | None = None) -> None:
        """A query has a duel."""
        self._asked.add(query)
        if row is not None:
            self._recent[query] = row

    def duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, be they on their way to the storage, or there."""
        maybe = [query for query in queries if query in self._asked]
        known = {query: row for query in maybe if (row := self._recent.get(query)) is not None}
        asked = [query for query in (maybe if self._loaded is None else queries) if query not in known]
        return known | self._storage.duels_of(self._tournament, asked) if asked else known

    def load(self) -> None:
        """Take in some more of the queries that had a duel before; until there are none left, the storage is asked."""
        if self._loaded is None:
            return
        found = self._storage.queries(self._tournament, self._loaded, _EACH_TIME)
        for start in range(0, len(found), _AT_ONCE):
            with self._lock:
                for query in found[start : start + _AT_ONCE]:
                    self._asked.add(query)
        self._loaded = found[-1] if len(found) == _EACH_TIME else None
