"""What is due in a tournament from time to time: duels are resolved or expire, guardrails are watched."""

import json
import logging
from collections import deque

from rankduel.errors import StorageError
from rankduel.interleaving import Interleaved
from rankduel.live.duels import DuelRow
from rankduel.live.memory import Memory
from rankduel.live.safety import Guardrail, crossed
from rankduel.live.signals import Signal
from rankduel.live.storage import Change, Noted, Sweep, Tell

__all__ = ["Keeper"]

_AT_ONCE = 1_000  # duels resolved together
_log = logging.getLogger("rankduel")


class Keeper:
    """Looks after one tournament. Where several processes have it open, one of them resolves and watches."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        # The counters at earlier looks, for guardrails; the first is when the tournament was opened.
        self.seen: deque[tuple[float, dict[str, int]]] = deque([(memory.time(), dict(memory.counters))])

    def look(self) -> None:
        """Do what is due. A storage that fails is tried again the next time."""
        memory = self.memory
        try:
            if memory.storage.shared:
                memory.follow()
                memory.count_again()
            if memory.storage.leads(memory.name):
                self.resolve()
                self.sweep()
                self.guard()
            if memory.queries is not None:
                memory.queries.load()
            memory.recover()
        except StorageError as error:
            if not memory.closed:
                _log.warning("%s: %s", memory.name, error)

    def sweep(self) -> None:
        """Let duels expire whose time is over."""
        memory = self.memory
        if memory.storage.overdue(memory.name, memory.time()):
            memory.write([Sweep(memory.time())])

    def resolve(self) -> None:
        """Decide the duels that were shown and whose window has closed, by what users did."""
        memory = self.memory
        due = memory.storage.due(memory.name, memory.time() - memory.attribution.window, _AT_ONCE)
        if due:
            memory.write([entry for row in due for entry in self._decided(row)])

    def _decided(self, row: DuelRow) -> tuple[Tell, Noted]:
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
        """Pause when a guardrail is crossed."""
        memory = self.memory
        rails = [Guardrail.from_dict(rail) for rail in memory.state.settings.guardrails]
        if not rails or memory.state.status != "running":
            self.seen.clear()
            return
        time, counts = memory.time(), dict(memory.counters)
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
                _log.warning("%s: paused, %s", memory.name, why)
                self.seen.clear()  # once it is started again, what was seen is forgotten
                memory.write([Change(time, "paused", {"reason": why, "by": "guardrail"})])
                return
