"""Maintenance of a tournament: resolve duels whose window has closed, expire old duels, check guardrails."""

import json
import logging
from collections.abc import Callable
from time import monotonic

from rankduel.errors import StorageError
from rankduel.interleaving import Interleaved
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.guardrails import Guardrail, GuardrailWindow, crossed
from rankduel.live.rules.signals import Signal
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.storage.contract import Change, CounterDelta, Entry, ExpireDue, Fail, Tell

__all__ = ["Maintenance"]

_MAX_DUELS_PER_RUN = 1_000  # resolved together
_LOG_INTERVAL_SECONDS = 60.0  # repeated failures are logged at most this often
_MANY_EXPIRED = 1_000  # at once, as after a long pause, or when the clock was wrong at the start
_MAX_REASON_CHARACTERS = 500
_log = logging.getLogger("rankduel")


class Maintenance:
    """Maintenance of one tournament. On a shared storage, only the leader resolves and expires duels."""

    def __init__(self, runtime: TournamentRuntime) -> None:
        self.runtime = runtime
        self._windows: dict[Guardrail, GuardrailWindow] = {}
        self._logged = -_LOG_INTERVAL_SECONDS
        self._step("check guardrails", self.check_guardrails, [])  # their windows begin now

    def run_due(self) -> None:
        """Run all steps. A failed step does not stop the others, and runs again next time.

        A StorageError is logged, but is not a failure of maintenance: health reports it separately.
        """
        runtime = self.runtime
        failures: list[str] = []
        self._step("catch up", self._catch_up, failures)
        if runtime.deleted:
            return
        if runtime.storage.leads(runtime.name):
            self._step("resolve duels", self.resolve, failures)
            self._step("expire duels", self.expire, failures)
            self._step("check guardrails", self.check_guardrails, failures)
        self._step("load known queries", self._load_queries, failures)
        self._step("recover", runtime.recover, failures)
        runtime.failed_steps = "; ".join(failures) or None
        runtime.maintenance_ran_at = monotonic()

    def _step(self, what: str, run: Callable[[], object], failures: list[str]) -> None:
        runtime = self.runtime
        try:
            run()
        except StorageError as error:
            if not runtime.closed and self._may_log():
                _log.warning("%s: cannot %s: %s", runtime.name, what, error)
        except Exception as error:
            failures.append(f"cannot {what}: {error!r}"[:_MAX_REASON_CHARACTERS])
            if self._may_log():
                _log.exception("%s: maintenance failed: cannot %s", runtime.name, what)

    def _may_log(self) -> bool:
        due = monotonic() - self._logged >= _LOG_INTERVAL_SECONDS
        if due:
            self._logged = monotonic()
        return due

    def _catch_up(self) -> None:
        if self.runtime.storage.shared:
            self.runtime.follow()
            self.runtime.count_again()

    def _load_queries(self) -> None:
        if self.runtime.queries is not None:
            self.runtime.queries.load()

    def expire(self) -> None:
        """Expire overdue duels."""
        runtime = self.runtime
        if runtime.storage.overdue(runtime.name, runtime.time()):
            (expired,) = runtime.write([ExpireDue(runtime.time())])
            if expired >= _MANY_EXPIRED and self._may_log():
                _log.warning("%s: %d duels expired at once; is the clock right?", runtime.name, expired)

    def resolve(self) -> None:
        """Resolve the shown duels whose attribution window has closed, from their signals."""
        runtime = self.runtime
        due = runtime.storage.due(runtime.name, runtime.time() - runtime.attribution.window, _MAX_DUELS_PER_RUN)
        if due:
            runtime.write([entry for row in due for entry in self._resolved(row)])

    def _resolved(self, row: DuelRow) -> tuple[Entry, ...]:
        """Return the entries that resolve a duel. If that fails, only this duel becomes `failed`."""
        try:
            return self._judged(row)
        except StorageError:
            raise
        except Exception as error:
            _log.warning("%s: duel %s cannot be resolved: %r", self.runtime.name, row.id, error)
            return (Fail(row.session, row.number, _failed_page(row, f"{error!r}"[:_MAX_REASON_CHARACTERS])),)

    def _judged(self, row: DuelRow) -> tuple[Entry, ...]:
        runtime = self.runtime
        signals = [
            Signal(row.query or "", each.action, each.object, each.position, each.time, each.dwell, each.key)
            for each in runtime.storage.signals(runtime.name, row.session, row.number)
        ]
        page = Interleaved.from_dict(json.loads(row.page or ""))
        judgement = runtime.attribution.judge(
            page, signals, seed=runtime.state.seed_of(row.id), method=runtime.method, issued=row.issued
        )
        outcome = None if judgement.outcome is None else judgement.outcome.value
        counters = CounterDelta({"orphan signals": judgement.orphans, "late signals": judgement.late})
        return Tell(row.session, row.number, None, outcome, runtime.time()), counters

    def check_guardrails(self) -> None:
        """Pause the tournament when a guardrail is crossed."""
        runtime = self.runtime
        rails = [Guardrail.from_dict(rail) for rail in runtime.state.settings.guardrails]
        if runtime.state.phase != "running":
            rails = []  # the windows begin anew when the tournament is started again
        self._windows = {rail: self._windows.get(rail) or GuardrailWindow(rail.window) for rail in rails}
        time, counters = runtime.time(), runtime.counters
        for rail, window in self._windows.items():
            pages_with, pages = counters.get(f"pages with {rail.action}", 0), counters.get("pages", 0)
            why = crossed(rail, *window.grown(time, pages_with, pages))
            if why is not None:
                _log.warning("%s: paused by a guardrail: %s", runtime.name, why)
                self._windows = {}
                runtime.write([Change(time, "paused", {"reason": why, "by": "guardrail"})])
                return


def _failed_page(row: DuelRow, reason: str) -> str:
    """Return the page of a failed duel as JSON, with the reason."""
    try:
        page = json.loads(row.page or "")
    except ValueError:
        page = {}
    return json.dumps({**(page if isinstance(page, dict) else {}), "failure": reason}, separators=(",", ":"))
