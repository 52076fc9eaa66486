"""Known queries: a Bloom filter recognises new queries without touching the disk. For the only process that asks."""

from threading import RLock

from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.bloom_filter import BloomFilter
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.storage.contract import Storage

__all__ = ["KnownQueries"]

_MAX_RECENT_QUERIES = 20_000  # remembered with their duels, while these are on the way to the disk
_QUERIES_PER_LOCK = 500  # loaded from the storage while asks wait
_QUERIES_PER_LOAD = 20_000  # loaded by each run of maintenance


class KnownQueries:
    """Of one tournament, in the only process that asks. Callers hold the lock, except of `load`."""

    def __init__(self, storage: Storage, tournament: str, lock: RLock) -> None:
        self._storage, self._tournament, self._lock = storage, tournament, lock
        self._recent: RecentCache[str, DuelRow] = RecentCache(_MAX_RECENT_QUERIES)
        self._asked = BloomFilter()
        self._loaded: str | None = ""  # those from before up to this one, in alphabetical order, are known; None: all

    def note(self, query: str, row: DuelRow | None = None) -> None:
        """A query has a duel."""
        self._asked.add(query)
        if row is not None:
            self._recent[query] = row

    def recent(self, query: str) -> DuelRow | None:
        """The duel of a query that was asked a short while ago."""
        return self._recent.get(query)

    def in_memory(self, queries: list[str]) -> tuple[dict[str, DuelRow], list[str]]:
        """The duels of recent queries, and the queries for which the storage must be asked."""
        maybe = self._asked.found(queries)
        known = {query: row for query in maybe if (row := self._recent.get(query)) is not None}
        return known, [query for query in (maybe if self._loaded is None else queries) if query not in known]

    def load(self) -> None:
        """Take in some more of the queries that had a duel before; until there are none left, the storage is asked."""
        if self._loaded is None:
            return
        found = self._storage.queries(self._tournament, self._loaded, _QUERIES_PER_LOAD)
        for start in range(0, len(found), _QUERIES_PER_LOCK):
            with self._lock:
                for query in found[start : start + _QUERIES_PER_LOCK]:
                    self._asked.add(query)
        self._loaded = found[-1] if len(found) == _QUERIES_PER_LOAD else None
