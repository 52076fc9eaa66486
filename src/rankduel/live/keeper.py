"""What is due in a tournament from time to time: duels are resolved or expire, guardrails are watched."""

import json
import logging
from collections import deque
from typing import TYPE_CHECKING

from rankduel.errors import StorageError
from rankduel.interleaving import Interleaved
from rankduel.live.duels import DuelRow
from rankduel.live.safety import Guardrail, crossed
from rankduel.live.signals import Signal
from rankduel.live.storage import Change, Noted, Sweep, Tell

if TYPE_CHECKING:
    from rankduel.live.tournament import Tournament

__all__ = ["Keeper"]

_AT_ONCE = 1_000  # duels resolved together
_log = logging.getLogger("rankduel")


class Keeper:
    """Looks after one tournament. Where several processes have it open, one of them resolves and watches."""

    def __init__(self, tournament: "Tournament") -> None:
        self.tournament = tournament
        self.seen: deque[tuple[float, dict[str, int]]] = deque()  # the counters at earlier looks, for guardrails

    def look(self) -> None:
        """Do what is due. A storage that fails is tried again the next time."""
        t = self.tournament
        try:
            if t.storage.shared:
                t.follow()
            if t.storage.leads(t.name):
                self.resolve()
                self.sweep()
                self.guard()
            t.recover()
        except StorageError as error:
            if not t._closed:
                _log.warning("%s: %s", t.name, error)

    def sweep(self) -> None:
        """Let duels expire whose time is over."""
        t = self.tournament
        if t.storage.overdue(t.name, t.time()):
            t.write([Sweep(t.time())])

    def resolve(self) -> None:
        """Decide the duels that were shown and whose window has closed, by what users did."""
        t = self.tournament
        due = t.storage.due(t.name, t.time() - t.attribution.window, _AT_ONCE)
        if due:
            t.write([entry for row in due for entry in self._decided(row)])

    def _decided(self, row: DuelRow) -> tuple[Tell, Noted]:
        t = self.tournament
        signals = [
            Signal(row.query or "", one.action, one.object, one.position, one.time, one.dwell, one.key)
            for one in t.storage.signals(t.name, row.session, row.number)
        ]
        page = Interleaved.from_dict(json.loads(row.page or ""))
        found = t.attribution.judge(page, signals, seed=t.seed_of(row.id), method=t.method, issued=row.issued)
        outcome = None if found.outcome is None else found.outcome.value
        noted = Noted({"orphan signals": found.orphans, "late signals": found.late})
        return Tell(row.session, row.number, None, outcome, t.time()), noted

    def guard(self) -> None:
        """Pause when a guardrail is crossed."""
        t = self.tournament
        rails = [Guardrail.from_dict(rail) for rail in t.settings.guardrails]
        if not rails or t.status != "running":
            self.seen.clear()
            return
        time, counts = t.time(), t.counters()
        self.seen.append((time, counts))
        while len(self.seen) > 1 and self.seen[1][0] <= time - max(rail.window for rail in rails):
            self.seen.popleft()
        for rail in rails:
            since = [earlier for seen_at, earlier in self.seen if seen_at <= time - rail.window]
            before = since[-1] if since else self.seen[0][1]
            action = f"action {rail.action}"
            events, pages = (counts.get(name, 0) - before.get(name, 0) for name in (action, "pages"))
            why = crossed(rail, events, pages)
            if why is not None:
                _log.warning("%s: paused, %s", t.name, why)
                self.seen.clear()  # once it is started again, what was seen is forgotten
                t.write([Change(time, "paused", {"reason": why, "by": "guardrail"})])
                return
