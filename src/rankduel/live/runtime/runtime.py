"""The in-memory state of an open tournament. It follows the journal, so it contains only durable events."""

import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from time import monotonic
from typing import Any

from rankduel.errors import StorageError, UnknownTournament
from rankduel.interleaving import interleaving_from
from rankduel.live.results import Counts
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.events import Event
from rankduel.live.runtime.clock import CLOCK, behind, now
from rankduel.live.runtime.known_queries import KnownQueries
from rankduel.live.runtime.snapshots import SnapshotTaker
from rankduel.live.runtime.state import State
from rankduel.live.runtime.tickets import Tickets
from rankduel.live.storage.contract import CounterDelta, Entry, Storage
from rankduel.live.storage.writer import Writer

__all__ = ["TournamentRuntime"]

MAINTENANCE_OVERDUE_SECONDS = 20.0  # maintenance is due four times a second, and may wait 15 s for a lock
_log = logging.getLogger("rankduel")


class TournamentRuntime:
    """The in-memory state of a tournament, updated after each commit. Hold `lock` to read `state`.

    If the bandit raises an exception, it becomes the `failure`: nothing more is learnt, entries are still written, and
    users see the baseline.
    """

    def __init__(self, name: str, writer: Writer, state: State, snapshot_at: int) -> None:
        self.name = name
        self.writer = writer
        self.storage: Storage = writer.storage
        self.state = state
        self.lock = threading.RLock()
        self.method = interleaving_from(state.settings.interleaving)
        self.tickets = Tickets(name, self.storage.secret)
        self.queries = None if self.storage.shared else KnownQueries(self.storage, name, self.lock)
        self.failure: Exception | None = None
        self.failed_steps: str | None = None  # of the last run of maintenance
        self.maintenance_ran_at = monotonic()  # when the last run of maintenance ended
        self.closed = False
        self.counters_version = 0  # increases whenever the counters change
        self.unwritten = 0  # issued duels that the counters do not include yet
        self.snapshots = SnapshotTaker(name, self.storage, state, self.lock, snapshot_at)
        self._rules: tuple[dict[str, Any] | None, Attribution] = {}, Attribution()
        self.counters = _with_declared(self.actions, self.storage.counts(name))  # only durable ones
        self._counting = threading.Lock()  # held while the counters are read again
        self._stored_counts = self.counts()  # as they were last read
        if self.queries is not None:
            with suppress(StorageError):  # maintenance continues loading, and reports failures
                self.queries.load()

    def check(self) -> None:
        """Raise StorageError if the tournament is closed, UnknownTournament if it was deleted."""
        self.writer.check()
        if self.closed:
            raise StorageError(f"tournament {self.name!r} is closed; open it again")
        if self.deleted:
            raise UnknownTournament(f"unknown tournament {self.name!r}; it was deleted")

    @property
    def deleted(self) -> bool:
        """Whether another process has deleted the tournament."""
        return self.name in self.writer.deleted

    @property
    def failing(self) -> Exception | None:
        """The failure of the storage or the bandit, while users see the baseline; None if both work."""
        damage = self.storage.damage
        return self.failure or self.writer.failure or (None if damage is None else StorageError(damage))

    @property
    def maintenance_failure(self) -> str | None:
        """Why maintenance failed, so that duels are not resolved or guardrails not checked; None if it works."""
        if self.failed_steps is not None:
            return self.failed_steps
        if (seconds := monotonic() - self.maintenance_ran_at) > MAINTENANCE_OVERDUE_SECONDS:
            return f"maintenance has not run for {seconds:.0f} s"
        if self.storage.snapshot_damage is not None:
            return self.storage.snapshot_damage
        failure = self.snapshots.failure
        return None if failure is None else f"cannot write a snapshot: {failure}"

    @property
    def clock_warning(self) -> str | None:
        """What is wrong with the clock of this machine, or None."""
        return CLOCK.warning or behind(self.state.time, now())

    def fail(self, error: Exception) -> None:
        """Note an exception of the bandit."""
        self.failure = error
        _log.error("%s: the bandit failed, users see the baseline: %r", self.name, error)

    def time(self) -> float:
        """Return the current time, without jumps of the clock, and never before the last event."""
        return max(now(), self.state.time)

    @property
    def attribution(self) -> Attribution:
        """The rules that turn signals and clicks into the outcome of a duel."""
        given, rules = self._rules
        if given is not self.state.settings.attribution:
            given = self.state.settings.attribution
            rules = Attribution.from_dict(given or {})
            self._rules = given, rules
        return rules

    @property
    def actions(self) -> frozenset[str]:
        """The declared actions, named by attribution or a guardrail. Each has a counter. All others share one."""
        rails = (rail["action"] for rail in self.state.settings.guardrails)
        return frozenset((*self.attribution.actions, *rails))

    def counts(self) -> Counts:
        """Return the durable counts of duels by state."""
        return Counts.of(self.counters)

    @property
    def durable_counts(self) -> Counts:
        """The durable counts of duels by state. None of them ever decreases.

        On a shared storage, these are the counts that were last read. `counters` may count a commit that happens during
        the read twice, or not at all, until the next read.
        """
        return self._stored_counts if self.storage.shared else self.counts()

    # Journal

    def write(self, entries: Sequence[Entry]) -> list[Any]:
        """Write entries. Return their results when they are durable."""
        return self.writer.put(self.name, entries).result()

    def happened(self, events: list[Event], counts: dict[str, int]) -> None:
        """Apply the events and counts of a commit that is now durable."""
        if events and events[0].number > self.state.number + 1:  # other processes have written events too
            self.follow()
        if counts.get("recovered asks"):  # their queries have duels that are not in memory
            self.storage.refresh_queries()
        with self.lock:
            for name, by in counts.items():
                self.counters[name] = self.counters.get(name, 0) + by
            self.counters_version += bool(counts)
            self.unwritten = max(0, self.unwritten - counts.get("issued", 0))
            self._learn(events)
        self._take_snapshot_if_due()

    def follow(self) -> None:
        """Apply events that other processes have written. The lock is not held while the storage is read."""
        events = self.storage.read(self.name, self.state.number)
        while chunk := list(islice(events, 1000)):
            with self.lock:
                self._learn(chunk)
        self._take_snapshot_if_due()

    def _take_snapshot_if_due(self) -> None:
        if self.failure is None:
            self.snapshots.take_if_due()

    def take_snapshot(self) -> None:
        """Store a snapshot now, so that the next opening is fast."""
        if self.failure is None:
            self.snapshots.take_snapshot()

    def count_again(self) -> None:
        """Read the counters again, which include other processes."""
        with self._counting:  # two threads must not swap an older and a newer read
            counters = self.storage.counts(self.name)
            self._stored_counts = Counts.of(counters)
            self.counters_version += counters != self.counters
            self.counters = counters

    def recover(self) -> None:
        """If the last commit failed, try another one, so that asks get duels again as soon as the storage works."""
        if self.writer.failure is not None:
            self.write([CounterDelta({"recoveries": 1})])
            self.unwritten = 0  # duels of a failed commit are never written

    def _learn(self, events: Iterable[Event]) -> None:
        state = self.state
        if self.failure is not None:
            return
        try:
            for event in events:
                if event.number > state.number:
                    state.apply(event)
        except StorageError:
            raise
        except Exception as error:
            self.fail(error)


def _with_declared(actions: Collection[str], counters: Mapping[str, int]) -> dict[str, int]:
    """Merge the counters of undeclared actions into one. Older versions counted each of them."""
    kept: dict[str, int] = {}
    for name, count in counters.items():
        if name.startswith("action ") and name.removeprefix("action ") not in actions:
            kept["undeclared actions"] = kept.get("undeclared actions", 0) + count
        elif not name.startswith("pages with ") or name.removeprefix("pages with ") in actions:
            kept[name] = kept.get(name, 0) + count
    return kept
