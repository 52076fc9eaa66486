"""Retention: pages, signals and clients of old duels are removed, in small batches that delay no other write."""

import logging
from collections.abc import Iterator
from time import monotonic
from time import time as now

from rankduel.errors import StorageError
from rankduel.live.defaults import DAY
from rankduel.live.rules.clients import hash_client
from rankduel.live.settings import Settings
from rankduel.live.storage.contract import Remove, Storage
from rankduel.live.storage.writer import Writer

__all__ = ["Retention", "erase_client", "forget_queries", "prune_batch", "prune_limit"]

_MAX_DUELS_PER_BATCH = 200  # commits of a few milliseconds, so that no tell waits longer
_CHECK_INTERVAL_SECONDS = 60.0
_MAX_CHANGES = 1_000_000  # more than a journal has
_STORAGE = ""  # not the name of a tournament: one process prunes all tournaments of a shared storage
_log = logging.getLogger("rankduel")


def prune_limit(storage: Storage, tournament: str, older_than: float, time: float) -> float:
    """Return the time before which duels are old: `older_than` seconds ago.

    With a daily cap, it is not after midnight UTC, because the cap counts the duels of each client today.
    """
    midnight = time - time % DAY
    if time - older_than > midnight and _caps_clients(storage, tournament):
        return midnight
    return time - older_than


def _caps_clients(storage: Storage, tournament: str) -> bool:
    """Whether a tournament has a daily cap, from its journal: a broken tournament has no state."""
    for event in storage.changes(tournament, _MAX_CHANGES):
        if "daily_cap" in event.body:
            return event.body["daily_cap"] is not None
    return False


def prune_batch(writer: Writer, tournament: str, issued_before: float, *, query_ids: bool) -> int:
    """Prune up to 200 duels, in one transaction. Return their number. 0: all are pruned."""
    duels = writer.storage.old_duels(tournament, issued_before, _MAX_DUELS_PER_BATCH)
    return _remove(writer, tournament, Remove(tuple(duels), query_ids)) if duels else 0


def _remove(writer: Writer, tournament: str, entry: Remove) -> int:
    removed: int = writer.put(tournament, [entry]).result()[0]
    return removed


def forget_queries(writer: Writer, tournament: str, issued_before: float) -> Iterator[int]:
    """Remove the query ids of duels that were pruned without it, in batches. Yield the number of duels of each."""
    after = ""
    while duels := writer.storage.pruned_with_query(tournament, issued_before, after, _MAX_DUELS_PER_BATCH):
        after = duels[-1][0]
        keys = tuple((session, number) for _, session, number in duels)
        yield _remove(writer, tournament, Remove(keys, query_ids=True))


def erase_client(writer: Writer, tournament: str, client_id: str, *, reason: str, by: str) -> int:
    """Erase the data of a client in batches. The journal records each batch. Return the number of its duels."""
    storage = writer.storage
    settings = Settings.from_dict(next(storage.read(tournament)).body)
    client = hash_client(client_id, bytes.fromhex(settings.salt))
    erased, removed = 0, 1
    writer.flush(tournament)  # asks that are not written yet
    while removed and (duels := storage.duels_of_client(tournament, client, _MAX_DUELS_PER_BATCH)):
        erasure = {"reason": reason, "by": by}
        removed = _remove(writer, tournament, Remove(tuple(duels), query_ids=True, time=now(), erasure=erasure))
        erased += removed
    return erased


class Retention:
    """Prunes all tournaments of a storage, as a step of its maintenance: one batch in each run, until all are pruned.

    On a shared storage, only one process does this.
    """

    def __init__(self, writer: Writer, older_than: float, *, query_ids: bool) -> None:
        self._writer, self._older_than, self._query_ids = writer, older_than, query_ids
        self._due = 0.0  # when to check again
        self._unchecked: list[str] = []  # tournaments

    def run_due(self) -> None:
        """Prune the next batch, if there is one."""
        storage = self._writer.storage
        try:
            if not self._unchecked and monotonic() >= self._due:
                self._due = monotonic() + _CHECK_INTERVAL_SECONDS
                self._unchecked = storage.names() if storage.leads(_STORAGE) else []
            while self._unchecked:
                name = self._unchecked[-1]
                limit = prune_limit(storage, name, self._older_than, now())
                pruned = prune_batch(self._writer, name, limit, query_ids=self._query_ids)
                if pruned < _MAX_DUELS_PER_BATCH:
                    self._unchecked.pop()
                if pruned:
                    break
        except StorageError as error:
            self._unchecked = []
            if not self._writer.closing:
                _log.warning("cannot prune old duels: %s", error)
