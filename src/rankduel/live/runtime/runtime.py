"""The state of an open tournament in memory, which follows the journal: it never knows more than the disk does."""

import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from time import monotonic
from time import time as now
from typing import Any

from rankduel.errors import StorageError
from rankduel.interleaving import interleaving_from
from rankduel.live.results import Counts
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.events import Event
from rankduel.live.runtime.known_queries import KnownQueries
from rankduel.live.runtime.snapshots import SnapshotTaker
from rankduel.live.runtime.state import State
from rankduel.live.runtime.tickets import Tickets
from rankduel.live.storage.contract import CounterDelta, Entry, Storage
from rankduel.live.storage.writer import Writer

__all__ = ["TournamentRuntime"]

MAINTENANCE_OVERDUE_SECONDS = 20.0  # without a run, which is due four times a second and may wait 15 s for a lock
_log = logging.getLogger("rankduel")


class TournamentRuntime:
    """The state in memory, and how it follows the journal. Whoever reads `state` holds `lock`.

    A bandit that raises is a `failure`: nothing is learnt any more, all is still written, and users see the baseline.
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
        self.counters_version = 0  # grows whenever they change
        self.unwritten = 0  # duels issued that the counters do not know yet
        self.snapshots = SnapshotTaker(name, self.storage, state, self.lock, snapshot_at)
        self._rules: tuple[dict[str, Any] | None, Attribution] = {}, Attribution()
        self.counters = _with_declared(self.actions, self.storage.counts(name))  # as far as they are durable
        if self.queries is not None:
            with suppress(StorageError):  # maintenance goes on with it, and reports what fails
                self.queries.load()

    def check(self) -> None:
        """Raise if nothing can be written any more."""
        self.writer.check()
        if self.closed:
            raise StorageError(f"tournament {self.name!r} is closed")

    @property
    def failing(self) -> Exception | None:
        """Why users see the baseline though the tournament runs: the storage or the bandit has failed."""
        damage = self.storage.damage
        return self.failure or self.writer.failure or (None if damage is None else StorageError(damage))

    @property
    def maintenance_failure(self) -> str | None:
        """Why duels are not resolved, do not expire, or guardrails are not checked; None if all is well."""
        if self.failed_steps is not None:
            return self.failed_steps
        if (seconds := monotonic() - self.maintenance_ran_at) > MAINTENANCE_OVERDUE_SECONDS:
            return f"maintenance has not run for {seconds:.0f} s"
        if self.storage.snapshot_damage is not None:
            return self.storage.snapshot_damage
        failure = self.snapshots.failure
        return None if failure is None else f"cannot write a snapshot: {failure}"

    def fail(self, error: Exception) -> None:
        """The bandit has raised."""
        self.failure = error
        _log.error("%s: the bandit has failed, the baseline is served: %r", self.name, error)

    def time(self) -> float:
        """Now; if the clock was set back, as late as the last event."""
        return max(now(), self.state.time)

    @property
    def attribution(self) -> Attribution:
        """How what users do becomes the outcome of a duel."""
        given, rules = self._rules
        if given is not self.state.settings.attribution:
            given = self.state.settings.attribution
            rules = Attribution.from_dict(given or {})
            self._rules = given, rules
        return rules

    @property
    def actions(self) -> frozenset[str]:
        """The actions that attribution or a guardrail names. Each has a counter; all others share one."""
        rails = (rail["action"] for rail in self.state.settings.guardrails)
        return frozenset((*self.attribution.actions, *rails))

    def counts(self) -> Counts:
        """What became of all duels."""
        return Counts.of(self.counters)

    # The journal goes on

    def write(self, entries: Sequence[Entry]) -> list[Any]:
        """Write entries; their results, when they are durable."""
        return self.writer.put(self.name, entries).result()

    def happened(self, events: list[Event], counts: dict[str, int]) -> None:
        """A commit is durable: learn from it."""
        if events and events[0].number > self.state.number + 1:  # others have written, too
            self.follow()
        if counts.get("recovered asks"):  # their queries have duels that nobody here has seen
            self.storage.refresh_queries()
        with self.lock:
            for name, by in counts.items():
                self.counters[name] = self.counters.get(name, 0) + by
            self.counters_version += bool(counts)
            self.unwritten = max(0, self.unwritten - counts.get("issued", 0))
            self._learn(events)
        self._take_snapshot_if_due()

    def follow(self) -> None:
        """Take in what others have written to the journal; nobody waits for the storage meanwhile."""
        events = self.storage.read(self.name, self.state.number)
        while some := list(islice(events, 1000)):
            with self.lock:
                self._learn(some)
        self._take_snapshot_if_due()

    def _take_snapshot_if_due(self) -> None:
        if self.failure is None:
            self.snapshots.take_if_due()

    def take_snapshot(self) -> None:
        """Store a snapshot now, so that opening is quick."""
        if self.failure is None:
            self.snapshots.take_snapshot()

    def count_again(self) -> None:
        """Take in the counters of all processes."""
        counters = self.storage.counts(self.name)
        self.counters_version += counters != self.counters
        self.counters = counters

    def recover(self) -> None:
        """If the storage has failed, see whether it is possible again."""
        if self.writer.failure is not None:
            self.write([CounterDelta({"recoveries": 1})])
            self.unwritten = 0  # what was not written will not be

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
    """Counters without those of actions that are not declared, which older versions have counted one by one."""
    kept: dict[str, int] = {}
    for name, count in counters.items():
        if name.startswith("action ") and name.removeprefix("action ") not in actions:
            kept["undeclared actions"] = kept.get("undeclared actions", 0) + count
        elif not name.startswith("pages with ") or name.removeprefix("pages with ") in actions:
            kept[name] = kept.get(name, 0) + count
    return kept
