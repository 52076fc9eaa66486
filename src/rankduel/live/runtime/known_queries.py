"""Known queries: a Bloom filter recognises new queries without touching the disk. Not for shared storages."""

from threading import RLock

from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.bloom_filter import BloomFilter
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.storage.contract import Storage

__all__ = ["KnownQueries"]

_MAX_RECENT_QUERIES = 20_000  # cached with their duels, which may not be written yet
_QUERIES_PER_LOCK = 500  # added while holding the lock, so asks wait for this many at most
_QUERIES_PER_LOAD = 20_000  # loaded by each run of maintenance


class KnownQueries:
    """The queries of one tournament that have a duel. Callers hold the lock, except for `load`."""

    def __init__(self, storage: Storage, tournament: str, lock: RLock) -> None:
        self._storage, self._tournament, self._lock = storage, tournament, lock
        self._recent: RecentCache[str, DuelRow] = RecentCache(_MAX_RECENT_QUERIES)
        self._asked = BloomFilter()
        self._loaded: str | None = ""  # stored queries up to this one, in alphabetical order, are loaded; None: all

    def note(self, query: str, row: DuelRow | None = None) -> None:
        """Note that a query has a duel."""
        self._asked.add(query)
        if row is not None:
            self._recent[query] = row

    def recent(self, query: str) -> DuelRow | None:
        """Return the cached duel of a recent query, or None."""
        return self._recent.get(query)

    def in_memory(self, queries: list[str]) -> tuple[dict[str, DuelRow], list[str]]:
        """Return the duels of recent queries, and the queries that must be looked up in the storage."""
        maybe = self._asked.found(queries)
        known = {query: row for query in maybe if (row := self._recent.get(query)) is not None}
        return known, [query for query in (maybe if self._loaded is None else queries) if query not in known]

    def load(self) -> None:
        """Load some more of the stored queries. Until all are loaded, every lookup reads the storage."""
        if self._loaded is None:
            return
        queries = self._storage.queries(self._tournament, self._loaded, _QUERIES_PER_LOAD)
        for start in range(0, len(queries), _QUERIES_PER_LOCK):
            with self._lock:
                for query in queries[start : start + _QUERIES_PER_LOCK]:
                    self._asked.add(query)
        self._loaded = queries[-1] if len(queries) == _QUERIES_PER_LOAD else None
