"""Record results: turn outcomes, clicks, shown pages and signals into entries for the storage.

Late results are not refused here, but when the entries are written (live/rules/duels.py names both rules).
"""

import json
from collections.abc import Container, Iterable
from typing import Any

from rankduel.interleaving import Interleaved
from rankduel.live.results import LiveDuel
from rankduel.live.rules.duels import DuelRow, Status, numbers_of
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.validation import as_list, brief
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.storage.contract import CounterDelta, Show, SignalRow, Tell
from rankduel.types import Outcome

__all__ = ["ResultRecorder"]

_MAX_FULL_DUELS = 20_000  # cached, so that further signals are dropped without a write


class ResultRecorder:
    """Finds the duel of each result, checks the result and makes an entry for the storage."""

    def __init__(self, runtime: TournamentRuntime, issuer: DuelIssuer) -> None:
        self._runtime = runtime
        self._issuer = issuer
        # Duels that have the maximum number of signals, by session and number.
        self._full_duels: RecentCache[tuple[int, int], bool] = RecentCache(_MAX_FULL_DUELS)

    def find(self, duel: LiveDuel | str) -> tuple[int, int, DuelRow | None]:
        """Return session and number of a duel, and its row if a ticket proves it; (0, 0, None) for an unknown duel."""
        text: LiveDuel | str | None = duel
        if isinstance(duel, LiveDuel):
            if (row := duel.row_signed_by(self._runtime.tickets)) is not None:
                return row.session, row.number, row
            if (text := duel.ticket) is None:
                return 0, 0, None
        if not isinstance(text, str):
            raise TypeError(f"duel must be what ask() returned, its id or its ticket, got {brief(duel)}")
        if (numbers := numbers_of(text)) is not None:
            return *numbers, None
        ticket = self._runtime.tickets.read(text)
        if ticket is None:
            return 0, 0, None
        self._issuer.recognise(ticket)
        return ticket.session, ticket.number, ticket

    def tells(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Tell]:
        """Make entries for outcomes and clicks. The attribution rules turn clicks into outcomes."""
        self._runtime.check()
        time = self._runtime.time()
        return [self._tell(duel, outcome, time) for duel, outcome in as_list("told", told)]

    def _tell(self, duel: LiveDuel | str, outcome: Outcome | Clicks, time: float) -> Tell:
        session, number, row = self.find(duel)
        if isinstance(outcome, Clicks):
            runtime = self._runtime
            self._check_page(outcome.shown)
            seed = runtime.state.seed_of(f"{session}-{number}")
            winner = runtime.attribution.of_clicks(outcome.shown, outcome.clicks, seed=seed, method=runtime.method)
            page = _page_json(outcome.shown, clicks=outcome.clicks)
            return Tell(session, number, row, None if winner is None else winner.value, time, page)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(outcome)}")
        return Tell(session, number, row, outcome._value_, time)  # three times as fast as `value`

    def shows(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Show]:
        """Make entries for shown pages."""
        self._runtime.check()
        time = self._runtime.time()
        return [self._show(duel, page, time) for duel, page in as_list("shown", shown)]

    def _show(self, duel: LiveDuel | str, page: Interleaved | None, time: float) -> Show:
        if page is None and isinstance(duel, LiveDuel):
            page = duel.shown
            if page is None and duel.id is None:
                return Show(0, 0, None, "", time)  # no duel
        if page is None:
            raise ValueError("no page given; call duel.interleave() first, or pass page=")
        self._check_page(page)
        return Show(*self.find(duel), _page_json(page), time)

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """Store signals and pages by query id. Return a status for each, when they are durable."""
        runtime = self._runtime
        runtime.check()
        items = as_list("seen", seen)
        for item in items:
            if isinstance(item, Shown):
                self._check_page(item.page)
            elif not isinstance(item, Signal):
                raise TypeError(f"seen must contain only Signal and Shown, got {brief(item)}")
        rows = self._issuer.duels_of([item.query_id for item in items])
        time, actions = runtime.time(), runtime.actions
        results = [Status.UNKNOWN] * len(items)
        entries: dict[int, SignalRow | Show] = {}  # by the index of the item
        dropped = orphans = 0
        for index, item in enumerate(items):
            if (row := rows.get(item.query_id)) is None:
                orphans += 1
            elif isinstance(item, Signal) and self._full_duels.get(row[:2]):
                dropped += 1
                results[index] = Status.LIMIT
            else:
                entries[index] = _entry(item, row, time, actions)
        counters = CounterDelta({"orphan signals": orphans, "dropped signals": dropped})
        statuses = runtime.write([*entries.values(), *([counters] if orphans or dropped else ())])
        for (index, entry), status in zip(entries.items(), statuses, strict=False):
            results[index] = status
            if status == Status.LIMIT:
                self._full_duels[entry[:2]] = True
        return results

    def _check_page(self, page: Interleaved) -> None:
        """Raise unless the interleaving method of this tournament made the page. Others cannot be credited."""
        if not isinstance(page, Interleaved):
            raise TypeError(f"a page must be what duel.interleave() returned, got {brief(page)}")
        runtime = self._runtime
        if page.method != runtime.method.name:
            uses = f"tournament {runtime.name!r} uses {runtime.method.name!r}"
            raise ValueError(f"the page was made by {brief(page.method)}, but {uses}; call duel.interleave()")


def _page_json(page: Interleaved, **more: Any) -> str:
    return json.dumps(page.to_dict() | more, separators=(",", ":"))


def _entry(item: Signal | Shown, row: DuelRow, time: float, actions: Container[str]) -> SignalRow | Show:
    """Make the entry for a signal or a page of a duel."""
    if isinstance(item, Shown):
        return Show(row.session, row.number, row, _page_json(item.page), time)
    stored = item.key, item.time, item.action, item.object, item.position, item.dwell
    return SignalRow(row.session, row.number, *stored, declared=item.action in actions)
