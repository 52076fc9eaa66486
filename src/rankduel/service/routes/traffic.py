"""The calls of a search application: ask, show, tell, and what users did."""

import asyncio
from functools import cache
from typing import Any

from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, LocalTournament, Shown, Signal, Status
from rankduel.live.rules.signals import Clicks
from rankduel.live.rules.ubi import MAX_EVENTS_PER_CALL, read_events, read_page
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS, check_name
from rankduel.live.storage.contract import TellResult
from rankduel.service.http.problems import Problem
from rankduel.service.http.routing import Call, Parameter, Request
from rankduel.service.http.schemas import (
    Ask,
    Asked,
    DuelOut,
    Ingested,
    ReceiptOut,
    Receipts,
    Show,
    Shows,
    Statuses,
    StatusOut,
    Tell,
    Tells,
)
from rankduel.service.tell_batcher import Telling
from rankduel.types import Outcome

__all__ = ["CALLS"]

_STRETCH = 100  # duels that are chosen before others have their turn
_NO_PAGES = "pages are taken only with a key that may ask or tell: whoever reports a page can decide its duel"
_EVENT_STATUSES = ("accepted", "duplicate", "limit", "late", "conflict", "invalid", "unknown")  # the first one counts
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_receipt = cache(ReceiptOut)  # there are few of them


async def ask(request: Request) -> DuelOut | Asked:
    """The two rankers that should meet for a query, or for each of many."""
    body: Ask = request.body
    t = await request.service.tournament(request.path["name"])
    if body.n is None and body.queries is None:
        (duel,) = await request.service.ask(t, [(body.query_id, body.client_id)])
        request.service.metrics.asked[duel.serve] += 1
        return _out(duel, body.query_id, t.settings.interleaving)
    asked = _queries(body)
    _check_ids(asked)  # of the whole batch, before the first duel is issued
    duels: list[DuelOut] = []
    method = t.settings.interleaving
    for start in range(0, len(asked), _STRETCH):
        if start:
            await asyncio.sleep(0)
        stretch = asked[start : start + _STRETCH]
        given = await request.service.ask(t, stretch)
        duels += [_out(duel, query_id, method) for (query_id, _), duel in zip(stretch, given, strict=True)]
    request.service.metrics.asked.update(duel.serve for duel in duels)
    return Asked(duels=duels)


def _queries(body: Ask) -> list[tuple[str | None, str | None]]:
    """Query and client of each duel of a batch. The same batch asks for the same duels again."""
    if body.n is not None and body.queries is not None:
        raise Problem("bad-value", "send n or queries, not both", value=body.n)
    if body.queries is not None:
        if body.query_id is not None:
            raise Problem("bad-value", "send query_id or queries, not both", value=body.query_id)
        return [(query.query_id, query.client_id or body.client_id) for query in body.queries]
    assert body.n is not None
    if body.query_id is None:
        return [(None, body.client_id)] * body.n
    return [(f"{body.query_id}.{number}", body.client_id) for number in range(body.n)]


def _check_ids(asked: list[tuple[str | None, str | None]]) -> None:
    """Raise if the tournament would refuse any id of a batch."""
    for what, ids in zip(("query_id", "client_id"), zip(*asked, strict=True), strict=True):
        for id in dict.fromkeys(ids):
            if id is not None:
                try:
                    check_name(what, id)
                except ValueError as error:
                    raise Problem("bad-value", str(error), value=id[:MAX_NAME_CHARACTERS]) from None


def _out(duel: LiveDuel, query_id: str | None, method: str) -> DuelOut:
    return DuelOut(
        duel.id, duel.first, duel.second, duel.seed, duel.expires, duel.ticket, duel.serve, duel.why, method, query_id
    )


async def tell(request: Request) -> ReceiptOut | Receipts:
    """Who won a duel, or many; the answer comes when all of it is durable."""
    body: Tell | list[Tell] = request.body
    service = request.service
    t = await service.tournament(request.path["name"])
    if isinstance(body, Tell):
        (told,) = await service.tell(t, [_telling(t, body)])
        service.metrics.told[told.status] += 1
        return _one(told, body)
    all_told = await service.tell(t, [_telling(t, item, place) for place, item in enumerate(body)])
    service.metrics.told.update(told.status for told in all_told)
    return Receipts(receipts=[_receipt(*told) for told in all_told])


def _telling(t: LocalTournament, item: Tell, place: int | None = None) -> Telling:
    duel = item.ticket or item.duel
    if duel is not None and item.outcome is not None and item.clicks is None:
        return duel, _OUTCOMES[item.outcome]
    at = "$" if place is None else f"$[{place}]"
    if duel is None:
        raise Problem("bad-value", "expected a ticket or a duel", at=at)
    if (item.outcome is None) == (item.clicks is None):
        raise Problem("bad-value", "expected an outcome or clicks", at=at)
    if item.shown is None:
        raise Problem("bad-value", "clicks are credited on the page that was shown: expected shown", at=at)
    return duel, Clicks(tuple(item.clicks or ()), _page(t, item.shown, f"{at}.shown"))


def _page(t: LocalTournament, shown: dict[str, Any], at: str) -> Interleaved:
    """A page from outside, made by the tournament's method."""
    try:
        page = read_page(shown)
    except (ValueError, TypeError, LookupError) as error:
        raise Problem("bad-value", f"not a page: {error}"[:1000], at=at) from None
    if page.method != t.method.name:
        raise Problem("bad-value", f"the pages of {t.name!r} are made by {t.method.name}", value=page.method, at=at)
    return page


def _one(told: TellResult, body: Tell) -> ReceiptOut:
    duel = body.ticket or body.duel
    if told.status == Status.CONFLICT:
        raise Problem("conflict", f"{told.outcome} is stored, and stays", outcome=told.outcome, value=body.outcome)
    if told.status == Status.UNKNOWN:
        raise Problem("unknown-duel", "no such duel in this tournament, or a ticket that is not ours", value=duel)
    return _receipt(*told)


async def show(request: Request) -> StatusOut | Statuses:
    """The page of a duel was shown, or those of many."""
    body: Show | list[Show] = request.body
    t = await request.service.tournament(request.path["name"])
    if isinstance(body, Show):
        (status,) = await request.service.in_thread(t.show_many, [_showing(t, body, "$")])
        if status == Status.UNKNOWN:
            told = "no such duel in this tournament, or a ticket that is not ours"
            raise Problem("unknown-duel", told, value=body.ticket or body.duel)
        return StatusOut(status=status)
    shown = [_showing(t, item, f"$[{place}]") for place, item in enumerate(body)]
    statuses = await request.service.in_thread(t.show_many, shown)
    return Statuses(statuses=[status.value for status in statuses])


def _showing(t: LocalTournament, item: Show, at: str) -> tuple[str, Interleaved]:
    duel = item.ticket or item.duel
    if duel is None:
        raise Problem("bad-value", "expected a ticket or a duel", at=at)
    return duel, _page(t, item.shown, f"{at}.shown")


async def ingest(request: Request) -> Ingested:
    """Take in what users did, as events of User Behavior Insights (UBI) 1.3."""
    service = request.service
    try:
        read = await service.in_thread(read_events, request.body)
    except TypeError as error:
        raise Problem("bad-value", str(error)) from None
    except ValueError as error:  # too many events
        request.charge(MAX_EVENTS_PER_CALL + 1)
        raise Problem("bad-value", str(error)) from None
    request.charge(len(read))
    errors = {place: one for place, one in enumerate(read) if isinstance(one, str)}
    if len(errors) == len(read):
        raise Problem("bad-value", errors[0][:1000] if errors else "expected an event")
    if not (request.key.may("ask") or request.key.may("tell")):
        errors |= {place: f"event {place + 1}: {_NO_PAGES}" for place, one in enumerate(read) if isinstance(one, Shown)}
    seen = {place: one for place, one in enumerate(read) if not isinstance(one, str) and place not in errors}
    statuses = dict.fromkeys(range(len(read)), Status.UNKNOWN.value) | dict.fromkeys(errors, "invalid")
    tournaments = await _addressed(request)
    for t in tournaments:
        wrong = {place: told for place, one in seen.items() if (told := _wrong_page(t, one)) is not None}
        theirs = {place: one for place, one in seen.items() if place not in wrong}
        if len(tournaments) > 1:  # what nobody knows is an orphan of nobody
            known = await service.in_thread(t.known, [one.query_id for one in seen.values()])
            theirs = {place: one for place, one in theirs.items() if one.query_id in known}
            wrong = {place: told for place, told in wrong.items() if seen[place].query_id in known}
        found = dict(zip(theirs, await service.in_thread(t.observe, list(theirs.values())), strict=True))
        errors |= {place: f"event {place + 1}: {told}" for place, told in wrong.items()}
        for place, status in (found | dict.fromkeys(wrong, "invalid")).items():
            statuses[place] = min(statuses[place], str(status), key=_EVENT_STATUSES.index)
    service.metrics.events.update(statuses.values())
    invalid = [told for place, told in sorted(errors.items()) if statuses[place] == "invalid"]
    return Ingested(statuses=list(statuses.values()), errors=invalid)


def _wrong_page(t: LocalTournament, one: Signal | Shown) -> str | None:
    """What is wrong with a page for a tournament, or None."""
    if isinstance(one, Signal) or one.page.method == t.method.name:
        return None
    return f"the pages of {t.name!r} are made by {t.method.name}, got one by {one.page.method}"


async def _addressed(request: Request) -> list[LocalTournament]:
    """The tournaments that events may belong to: the one that is named, or all that are not over."""
    service = request.service
    if (named := request.query.get("tournament")) is not None:
        return [await service.tournament(named)]
    found = await service.open_among(await service.in_thread(service.open_tournaments.names))
    running = [t for t in found if t.status != "stopped"]
    if not running:
        raise Problem("unknown-tournament", "there is no tournament that is not stopped")
    return running


_AT = "/v1/tournaments/{name}"
_ONE = ("unknown-tournament", "unknown-duel")
CALLS = (
    Call("POST", _AT + "/ask", "ask", ask, (DuelOut, Asked), Ask, problems=("unknown-tournament",)),
    Call("POST", _AT + "/tell", "tell", tell, (ReceiptOut, Receipts), Tell | Tells, problems=(*_ONE, "conflict")),
    Call("POST", _AT + "/show", "tell", show, (StatusOut, Statuses), Show | Shows, problems=(*_ONE, "conflict")),
    Call(
        "POST",
        "/v1/events",
        "ingest",
        ingest,
        Ingested,
        bytes,
        problems=("unknown-tournament",),
        parameters=(
            Parameter("tournament", "Whose events they are; without it, that of the query is looked for."),
            Parameter("key", "An API key with no scope but ingest, for sendBeacon, which cannot send headers."),
        ),
        media=("application/json", "application/x-ndjson", "text/plain"),
    ),
)
