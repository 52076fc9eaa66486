"""Group commit: one writer thread batches everything that arrives while the previous commit is syncing.

Four layers batch asks and tells on their way to the disk. Each saves a different cost:

1. `service/tell_batcher.py`: the tells that arrive in one turn of the event loop become one put. This saves a wake-up
   of the event loop for each request.
2. The queue of this writer: everything that arrives during a commit goes into the next one, up to 5,000 entries. This
   saves syncs, the slowest step. The thread also waits up to 1 ms for the callers of the last commit, because they
   usually come back at the same time.
3. `pending_asks.py`: a new duel waits up to 0.1 s for its tell. Then it is written once, with its outcome, instead of
   being inserted and updated.
4. SQL statements with many rows (`_ROWS_PER_STATEMENT` in `sqlite.py`, JSON lists in `postgres_statements.py`): each
   statement costs as much as several rows, and on PostgreSQL a round trip.

Measured on SQLite with two shared cores, with one layer off at a time: 32 threads that wait for each of their tells
made 2,600 duels a second, 1,270 without the wait of 1 ms, and 250 with a commit for each put. In groups of 100, an ask
and a tell took 178,000 instructions, 211,000 without pending asks, and 208,000 with one row per statement.
"""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.events import Event
from rankduel.live.storage.contract import Batch, Committed, Entry, Storage, StorageBusy
from rankduel.live.storage.pending_asks import PendingAsks
from rankduel.live.storage.schema import opened_before_fork

__all__ = ["Happened", "Writer"]

_UNAWAITED_SECONDS = 0.02  # how long entries without a waiting caller stay in the queue, to share a commit
_PENDING_ASK_SECONDS = 0.05  # new duels are held back for one to two such periods, until most of them are told
_GATHER_SECONDS = 0.001  # how long to wait for as many callers as the last commit had
_MAX_QUEUED_ENTRIES = 100_000
_MAX_ENTRIES_PER_COMMIT = 5_000
_STALL_SECONDS = 5.0  # a commit that takes longer counts as hanging
_BUSY_SECONDS = 15.0  # entries that wait longer for a lock of another process fail
_PROOF_SECONDS = 10.0  # for so long, a commit proves that the storage can be written
_log = logging.getLogger("rankduel")

Happened = Callable[[list[Event], dict[str, int]], None]
_Put = tuple[str, Sequence[Entry], Future[list[Any]] | None]


class Writer:
    """The write queue of a storage. The entries of one put are committed together, in the order of the queue.

    After a commit, the writer calls the listeners of the tournaments, then sets the results of the futures. If a commit
    fails, none of it is written: its futures get the exception, and the next commit is tried as usual. If another
    process holds the lock of a tournament, its entries go back to the head of the queue, and other tournaments do not
    wait for them.

    Only `put` may block, while the queue is full. No other method waits for the disk, except `flush` and `close`.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.listeners: dict[str, Happened] = {}  # by tournament
        self.failure: Exception | None = None  # of the last commit
        self.deleted: set[str] = set()  # open tournaments that were deleted
        self._queue: list[_Put] = []
        self._queued_entries = 0  # in the queue
        self._pending_asks = PendingAsks(_PENDING_ASK_SECONDS)
        self._waiting_callers = 0  # in the queue
        self._last_callers = 0  # callers that waited for the last commit
        self._awaited_callers = 0  # while the thread gathers callers: how many wake it
        self._idle = self._closing = self._orphaned = False
        self._check_due = False  # whether to check that the storage can be written
        self._committed_at = -_PROOF_SECONDS  # time of the last commit
        self._commit_began: float | None = None  # when the current commit began
        self._busy_since: dict[str, float] = {}  # tournaments whose lock another process holds
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._not_empty = threading.Condition(self._lock)
        self._not_full = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="rankduel writer", daemon=True)
        self._thread.start()

    @property
    def stalled(self) -> bool:
        """Whether the storage cannot keep up: a commit hangs, or the queue is full."""
        began = self._commit_began
        return self._full or (began is not None and monotonic() - began > _STALL_SECONDS)

    @property
    def _full(self) -> bool:
        return self._queued_entries + len(self._pending_asks) >= _MAX_QUEUED_ENTRIES

    def put(self, tournament: str, entries: Sequence[Entry]) -> Future[list[Any]]:
        """Queue entries. The future has their results when they are durable. Blocks while the queue is full."""
        future: Future[list[Any]] = Future()
        with self._lock:
            while self._full and not self._closing and threading.current_thread() is not self._thread:
                self._not_full.wait()
            self._put(tournament, entries, future)
        return future

    def put_now(self, tournament: str, entries: Sequence[Entry]) -> Future[list[Any]]:
        """Like `put`, without blocking. Raise StorageError if the queue is full."""
        future: Future[list[Any]] = Future()
        with self._lock:
            if self._full:
                raise StorageError(
                    f"the storage does not keep up: {self._queued_entries:,} entries are queued; try again later"
                )
            self._put(tournament, entries, future)
        return future

    def put_soon(self, tournament: str, entries: Sequence[Entry]) -> None:
        """Queue entries without a result. They are dropped if the queue is full."""
        with self._lock:
            if not self._full:
                self._put(tournament, entries, None)

    def issue(self, tournament: str, rows: Sequence[DuelRow]) -> None:
        """Queue new duels. They are written with the first entry that names them, or up to 0.1 s later."""
        with self._lock:
            self.check()
            if self._idle and not self._pending_asks:
                self._not_empty.notify()  # the thread must now wait for the pending asks
            self._pending_asks.put(tournament, rows)

    def _put(self, tournament: str, entries: Sequence[Entry], future: Future[list[Any]] | None) -> None:
        self.check()
        self._queue.append((tournament, entries, future))
        self._queued_entries += len(entries)
        self._waiting_callers += future is not None
        if self._idle or (future is not None and self._waiting_callers >= self._awaited_callers):
            self._not_empty.notify()

    def flush(self, tournament: str) -> None:
        """Wait until all entries queued so far are durable."""
        self.put(tournament, ()).result()

    @property
    def closing(self) -> bool:
        """Whether the writer is closed, or will be as soon as its queue is written."""
        return self._closing

    def check_writable(self) -> None:
        """Let the thread find out whether the storage can be written, unless a commit has just shown it.

        Afterwards, `failure` says so, also if nobody writes. This does not wait.
        """
        with self._lock:
            if monotonic() - self._committed_at >= _PROOF_SECONDS:
                self._check_due = True
                self._not_empty.notify()

    def notice_deleted(self) -> None:
        """Note the open tournaments that other processes have deleted."""
        if self.storage.shared:
            self.deleted |= self.storage.deleted()

    def check(self) -> None:
        """Raise StorageError if the writer is closed, or belongs to the parent process."""
        if self._process != os.getpid():
            raise StorageError(opened_before_fork(self._process))
        if self._closing:
            raise StorageError("the storage is closed; open it again")

    def close(self) -> None:
        """Write the queued entries, and close the storage."""
        if self._process != os.getpid():
            return  # the writer belongs to the parent process
        with self._lock:
            self._closing = True
            self._not_empty.notify()
            self._not_full.notify_all()
        if threading.current_thread() is self._thread:  # the garbage collector may call this in any thread
            self._orphaned = True
        else:
            self._thread.join()
            self.storage.close()

    def _run(self) -> None:
        while (following := self._next()) is not None:
            asks, taken = following
            puts: list[_Put] = [*((name, rows, None) for name, rows in asks.items()), *taken]
            self._commit_began = monotonic()
            if not puts:
                self._write_check()
            locked = {name for name, _, _ in puts} & self._busy_since.keys() if self._busy_since else ()
            self._write([put for put in puts if put[0] not in locked] if locked else puts)
            for name in locked:
                self._write([put for put in puts if put[0] == name])
            self._commit_began = None
        if self._orphaned:
            self.storage.close()

    def _write_check(self) -> None:
        try:
            self.storage.check_writable()
        except StorageBusy:
            return  # other processes write
        except Exception as error:
            self._becomes(error)
            return
        self._committed_at = monotonic()
        if not self.listeners:  # otherwise, their maintenance recovers
            self._becomes(None)

    def _becomes(self, failure: Exception | None) -> None:
        """Note whether the last write failed. Log when that changes."""
        if failure is None and self.failure is not None:
            _log.info("the storage can be written again")
        elif failure is not None and self.failure is None:
            _log.error("the storage cannot be written: %s", failure)
        self.failure = failure

    def _write(self, puts: list[_Put]) -> None:
        """Commit puts. If another process holds a lock, commit those of unlocked tournaments."""
        batch: dict[str, list[Entry]] = {}
        starts = []
        for name, entries, _ in puts:
            mine = batch.setdefault(name, [])
            starts.append(len(mine))
            mine += entries
        batch = {name: entries for name, entries in batch.items() if entries}
        try:
            committed = self._commit(batch) if batch else Committed({}, {}, {})
        except StorageBusy as error:
            self._write_unlocked(puts, error)
            return
        except Exception as error:
            self._fail(puts, error)
            return
        for (name, entries, future), start in zip(puts, starts, strict=True):
            if future is not None and name in committed.unknown:
                future.set_exception(committed.unknown[name])
            elif future is not None:
                future.set_result(committed.results.get(name, [])[start : start + len(entries)])

    def _commit(self, batch: Batch) -> Committed:
        committed = self.storage.commit(batch)
        self.deleted.update(committed.unknown)
        for name, events in committed.events.items():
            self._busy_since.pop(name, None)
            if name in self.listeners:
                self.listeners[name](events, committed.counts[name])
        self._becomes(None)
        self._committed_at = monotonic()
        return committed

    def _write_unlocked(self, puts: list[_Put], error: StorageBusy) -> None:
        """Commit the puts of unlocked tournaments, and postpone the rest."""
        by_name: dict[str, list[_Put]] = {}
        for put in puts:
            by_name.setdefault(put[0], []).append(put)
        if len(by_name) == 1:
            self._postpone(*by_name.popitem(), error)
            return
        if self._closing:  # the last attempt
            for mine in by_name.values():
                self._write(mine)
            return
        try:
            unlocked = self.storage.unlocked(set(by_name))
        except StorageError as failure:
            self._fail(puts, failure)
            return
        if unlocked == by_name.keys():  # another lock, not of a tournament: try each in turn
            unlocked = set()
        for name in by_name.keys() - unlocked:
            self._postpone(name, by_name[name], error)
        if unlocked:
            self._write([put for put in puts if put[0] in unlocked])

    def _postpone(self, tournament: str, puts: list[_Put], error: StorageBusy) -> None:
        """Put the entries of a locked tournament back into the queue. After 15 s they fail."""
        since = self._busy_since.pop(tournament, monotonic())
        if self._closing or monotonic() - since > _BUSY_SECONDS:
            self._fail(puts, error)
            return
        self._busy_since[tournament] = since  # to the end of the dict: other locked tournaments are tried first
        with self._lock:
            self._queue[:0] = puts
            self._queued_entries += sum(len(entries) for _, entries, _ in puts)
            self._waiting_callers += sum(future is not None for _, _, future in puts)

    def _fail(self, puts: list[_Put], error: Exception) -> None:
        self._becomes(error)
        for _, _, future in puts:
            if future is not None:
                future.set_exception(error)

    def _next(self) -> tuple[dict[str, list[Entry]], list[_Put]] | None:
        """Wait for the next commit. Return pending asks by tournament, and puts from the queue; None at the end."""
        with self._lock:
            self._idle = True
            while (
                not self._queue
                and not self._closing
                and not self._check_due
                and ((left := self._pending_asks.seconds_left) is None or left > 0)
            ):
                self._not_empty.wait(left)
            self._idle = self._check_due = False
            taken = self._from_queue()
            asks: dict[str, list[Entry]] = {}
            self._pending_asks.take_named(((name, entries) for name, entries, _ in taken), asks)
            if not taken and self._closing:
                self._pending_asks.take_all(asks)
            else:
                self._pending_asks.take_due(asks)
            self._not_full.notify_all()
            return None if self._closing and not asks and not taken else (asks, taken)

    def _from_queue(self) -> list[_Put]:
        if not self._queue:
            return []
        self._wait_for_callers(_UNAWAITED_SECONDS, 1)
        self._wait_for_callers(_GATHER_SECONDS, self._last_callers)
        queue, postponed = self._queue, self._not_in_turn()
        if postponed:
            queue = [put for put in self._queue if put[0] not in postponed]
        if self._busy_since:  # other tournaments go before those that wait for a lock
            queue.sort(key=lambda put: put[0] in self._busy_since)
        count = size = 0
        while count < len(queue) and size < _MAX_ENTRIES_PER_COMMIT:
            size += len(queue[count][1])
            count += 1
        later = [put for put in self._queue if put[0] in postponed] if postponed else []
        taken, self._queue = queue[:count], later + queue[count:]
        self._queued_entries -= size
        self._last_callers = sum(future is not None for _, _, future in taken)
        self._waiting_callers -= self._last_callers
        return taken

    def _not_in_turn(self) -> set[str]:
        """Return the locked tournaments to skip in the next commit: all but one, since each may wait 0.25 s."""
        if len(self._busy_since) < 2:
            return set()
        queued = {put[0] for put in self._queue}
        return set([name for name in self._busy_since if name in queued][1:])

    def _wait_for_callers(self, seconds: float, callers: int) -> None:
        """Wait until this many callers wait for a result, but at most this many seconds."""
        self._awaited_callers = callers
        due = monotonic() + seconds
        while self._waiting_callers < callers and not self._closing and (left := due - monotonic()) > 0:
            self._not_empty.wait(left)
