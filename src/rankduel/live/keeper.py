"""Maintenance of a tournament: resolve duels whose window has closed, let old ones expire, check guardrails."""

import json
import logging
from collections.abc import Callable
from time import monotonic

from rankduel.errors import StorageError
from rankduel.interleaving import Interleaved
from rankduel.live.duels import DuelRow
from rankduel.live.memory import Memory
from rankduel.live.safety import Guardrail, GuardrailWindow, crossed
from rankduel.live.signals import Signal
from rankduel.live.storage import Change, Entry, Fail, Noted, Sweep, Tell

__all__ = ["Keeper"]

_MAX_DUELS_PER_RUN = 1_000  # resolved together
_LOG_INTERVAL_SECONDS = 60.0  # maintenance that keeps failing is logged once in this time
_MAX_REASON_CHARACTERS = 500
_log = logging.getLogger("rankduel")


class Keeper:
    """Looks after one tournament. Where several processes have it open, the leader resolves and checks."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._windows: dict[Guardrail, GuardrailWindow] = {}
        self._logged = -_LOG_INTERVAL_SECONDS
        self._step("check guardrails", self.guard, [])  # they count from here on

    def look(self) -> None:
        """Do everything that is due. A step that fails does not keep the others from running, and is tried again.

        A storage that fails is no failure of maintenance: health shows it by itself.
        """
        memory = self.memory
        failures: list[str] = []
        self._step("catch up", self._catch_up, failures)
        if memory.storage.leads(memory.name):
            self._step("resolve duels", self.resolve, failures)
            self._step("expire duels", self.sweep, failures)
            self._step("check guardrails", self.guard, failures)
        self._step("load known queries", self._load_queries, failures)
        self._step("recover", memory.recover, failures)
        memory.maintenance = "; ".join(failures) or None

    def _step(self, what: str, run: Callable[[], object], failures: list[str]) -> None:
        memory = self.memory
        try:
            run()
        except StorageError as error:
            if not memory.closed and self._may_log():
                _log.warning("%s: cannot %s: %s", memory.name, what, error)
        except Exception as error:
            failures.append(f"cannot {what}: {error!r}"[:_MAX_REASON_CHARACTERS])
            if self._may_log():
                _log.exception("%s: maintenance failed: cannot %s", memory.name, what)

    def _may_log(self) -> bool:
        due = monotonic() - self._logged >= _LOG_INTERVAL_SECONDS
        if due:
            self._logged = monotonic()
        return due

    def _catch_up(self) -> None:
        if self.memory.storage.shared:
            self.memory.follow()
            self.memory.count_again()

    def _load_queries(self) -> None:
        if self.memory.queries is not None:
            self.memory.queries.load()

    def sweep(self) -> None:
        """Let duels expire whose time is over."""
        memory = self.memory
        if memory.storage.overdue(memory.name, memory.time()):
            memory.write([Sweep(memory.time())])

    def resolve(self) -> None:
        """Decide the duels that were shown and whose window has closed, by what users did."""
        memory = self.memory
        due = memory.storage.due(memory.name, memory.time() - memory.attribution.window, _MAX_DUELS_PER_RUN)
        if due:
            memory.write([entry for row in due for entry in self._resolved(row)])

    def _resolved(self, row: DuelRow) -> tuple[Entry, ...]:
        """The outcome of one duel; one that cannot be resolved fails by itself and keeps no other one waiting."""
        try:
            return self._judged(row)
        except StorageError:
            raise
        except Exception as error:
            _log.warning("%s: duel %s cannot be resolved: %r", self.memory.name, row.id, error)
            return (Fail(row.session, row.number, _failed_page(row, f"{error!r}"[:_MAX_REASON_CHARACTERS])),)

    def _judged(self, row: DuelRow) -> tuple[Entry, ...]:
        memory = self.memory
        signals = [
            Signal(row.query or "", one.action, one.object, one.position, one.time, one.dwell, one.key)
            for one in memory.storage.signals(memory.name, row.session, row.number)
        ]
        page = Interleaved.from_dict(json.loads(row.page or ""))
        found = memory.attribution.judge(
            page, signals, seed=memory.state.seed_of(row.id), method=memory.method, issued=row.issued
        )
        outcome = None if found.outcome is None else found.outcome.value
        noted = Noted({"orphan signals": found.orphans, "late signals": found.late})
        return Tell(row.session, row.number, None, outcome, memory.time()), noted

    def guard(self) -> None:
        """Pause the tournament when a guardrail is crossed."""
        memory = self.memory
        rails = [Guardrail.from_dict(rail) for rail in memory.state.settings.guardrails]
        if memory.state.status != "running":
            rails = []  # once it is started again, what was seen before is forgotten
        self._windows = {rail: self._windows.get(rail) or GuardrailWindow(rail.window) for rail in rails}
        time, counters = memory.time(), memory.counters
        for rail, window in self._windows.items():
            pages_with, pages = counters.get(f"pages with {rail.action}", 0), counters.get("pages", 0)
            why = crossed(rail, *window.grown(time, pages_with, pages))
            if why is not None:
                _log.warning("%s: paused, %s", memory.name, why)
                self._windows = {}
                memory.write([Change(time, "paused", {"reason": why, "by": "guardrail"})])
                return


def _failed_page(row: DuelRow, reason: str) -> str:
    """The page of a duel with the reason why it failed."""
    try:
        page = json.loads(row.page or "")
    except ValueError:
        page = {}
    return json.dumps({**(page if isinstance(page, dict) else {}), "failure": reason}, separators=(",", ":"))
