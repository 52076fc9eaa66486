"""Telling: turn outcomes, clicks, shown pages and signals into entries for the storage."""

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

_MAX_FULL_DUELS = 20_000  # remembered, so that further signals of them are dropped without a write


class ResultRecorder:
    """Find the duel of each result, check the result, and make an entry for the storage of it."""

    def __init__(self, runtime: TournamentRuntime, issuer: DuelIssuer) -> None:
        self._runtime = runtime
        self._issuer = issuer
        self._full_duels: RecentCache[tuple[int, int], bool] = RecentCache(_MAX_FULL_DUELS)  # take no more signals

    def find(self, duel: LiveDuel | str) -> tuple[int, int, DuelRow | None]:
        """Session and number of a duel, and its row if a ticket vouches for it; (0, 0, None) where there is none."""
        text: LiveDuel | str | None = duel
        if isinstance(duel, LiveDuel):
            if (row := duel.row_signed_by(self._runtime.tickets)) is not None:
                return row.session, row.number, row
            if (text := duel.ticket) is None:
                return 0, 0, None
        if not isinstance(text, str):
            raise TypeError(f"duel must be what ask() has returned, or its id or ticket, got {brief(duel)}")
        if (numbers := numbers_of(text)) is not None:
            return *numbers, None
        ticket = self._runtime.tickets.read(text)
        if ticket is None:
            return 0, 0, None
        self._issuer.recognise(ticket)
        return ticket.session, ticket.number, ticket

    def tells(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Tell]:
        """Entries for outcomes, and for clicks, which the attribution turns into outcomes."""
        self._runtime.check()
        time = self._runtime.time()
        return [self._tell(duel, outcome, time) for duel, outcome in as_list("told", told)]

    def _tell(self, duel: LiveDuel | str, outcome: Outcome | Clicks, time: float) -> Tell:
        session, number, row = self.find(duel)
        if isinstance(outcome, Clicks):
            runtime = self._runtime
            self._check_page(outcome.shown)
            seed = runtime.state.seed_of(f"{session}-{number}")
            found = runtime.attribution.of_clicks(outcome.shown, outcome.clicks, seed=seed, method=runtime.method)
            page = _page_json(outcome.shown, clicks=outcome.clicks)
            return Tell(session, number, row, None if found is None else found.value, time, page)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(outcome)}")
        return Tell(session, number, row, outcome._value_, time)  # three times as fast as `value`

    def shows(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Show]:
        """Entries for pages that were shown."""
        self._runtime.check()
        time = self._runtime.time()
        return [self._show(duel, page, time) for duel, page in as_list("shown", shown)]

    def _show(self, duel: LiveDuel | str, page: Interleaved | None, time: float) -> Show:
        if page is None and isinstance(duel, LiveDuel):
            page = duel.shown
            if page is None and duel.id is None:
                return Show(0, 0, None, "", time)  # no duel: no page to credit
        if page is None:
            raise ValueError("which page was shown? call duel.interleave first, or hand it over as page=")
        self._check_page(page)
        return Show(*self.find(duel), _page_json(page), time)

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """Store signals and pages by the ids of their queries; a status for each, when they are durable."""
        runtime = self._runtime
        runtime.check()
        given = as_list("seen", seen)
        for one in given:
            if isinstance(one, Shown):
                self._check_page(one.page)
            elif not isinstance(one, Signal):
                raise TypeError(f"seen must be a list of Signal and Shown, got {brief(one)} in it")
        rows = self._issuer.duels_of([one.query_id for one in given])
        time, actions = runtime.time(), runtime.actions
        results = [Status.UNKNOWN] * len(given)
        entries: dict[int, SignalRow | Show] = {}  # by the index of what they are made of
        dropped = orphans = 0
        for index, one in enumerate(given):
            if (row := rows.get(one.query_id)) is None:
                orphans += 1
            elif isinstance(one, Signal) and self._full_duels.get(row[:2]):
                dropped += 1
                results[index] = Status.LIMIT
            else:
                entries[index] = _entry(one, row, time, actions)
        noted = CounterDelta({"orphan signals": orphans, "dropped signals": dropped})
        statuses = runtime.write([*entries.values(), *([noted] if orphans or dropped else ())])
        for (index, entry), status in zip(entries.items(), statuses, strict=False):
            results[index] = status
            if status == Status.LIMIT:
                self._full_duels[entry[:2]] = True
        return results

    def _check_page(self, page: Interleaved) -> None:
        """Raise if the interleaving of this tournament did not make a page: clicks could not be credited."""
        if not isinstance(page, Interleaved):
            raise TypeError(f"a page is what duel.interleave() has returned, got {brief(page)}")
        runtime = self._runtime
        if page.method != runtime.method.name:
            uses = f"tournament {runtime.name!r} uses {runtime.method.name!r}"
            raise ValueError(f"the page was made by {brief(page.method)}, but {uses}: call duel.interleave")


def _page_json(page: Interleaved, **more: Any) -> str:
    return json.dumps(page.to_dict() | more, separators=(",", ":"))


def _entry(one: Signal | Shown, row: DuelRow, time: float, actions: Container[str]) -> SignalRow | Show:
    """The entry for a signal or a page of a duel."""
    if isinstance(one, Shown):
        return Show(row.session, row.number, row, _page_json(one.page), time)
    stored = one.key, one.time, one.action, one.object, one.position, one.dwell
    return SignalRow(row.session, row.number, *stored, declared=one.action in actions)
