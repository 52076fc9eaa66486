"""Traffic routes for search applications: ask, tell, show and UBI events."""

import asyncio
from functools import cache
from typing import Any

from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, LocalTournament, Shown, Signal, Status
from rankduel.live.rules.signals import Clicks
from rankduel.live.rules.ubi import MAX_EVENTS_PER_CALL, read_events, read_page
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS, check_name
from rankduel.live.storage.contract import TellResult
from rankduel.service.http import response_schemas as out
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.request_schemas import Ask, Show, Shows, Tell, Tells
from rankduel.service.http.routing import Request, Route
from rankduel.service.problems import Problem
from rankduel.service.tell_batcher import TellItem
from rankduel.types import Outcome

__all__ = ["ROUTES"]

_ASKS_PER_TURN = 100  # of a batch, before other requests run
_NO_PAGES = "only an API key with the scope ask or tell may report pages, because a page can decide its duel"
_UNKNOWN_DUEL = "unknown duel or invalid ticket; send the ticket that ask returned for this tournament"
_STATUSES = ("accepted", "duplicate", "limit", "late", "conflict", "invalid", "unknown")  # of events, best first
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_receipt = cache(out.Receipt)  # there are few different receipts

# Ask


async def ask(request: Request) -> out.Duel | out.Duels:
    """Ask for one duel, or for a batch of duels."""
    body: Ask = request.body
    service = request.service
    t = await service.tournament(request.path["name"])
    if body.n is None and body.queries is None:
        (duel,) = await service.ask(t, [(body.query_id, body.client_id)])
        service.metrics.asks[t.name, duel.serve, duel.why] += 1
        return _duel(duel, body.query_id, t.settings.interleaving)
    asked = _queries(body)
    _check_ids(asked)  # before the first duel is issued: an invalid id rejects the whole batch
    duels: list[out.Duel] = []
    method = t.settings.interleaving
    for start in range(0, len(asked), _ASKS_PER_TURN):
        if start:
            await asyncio.sleep(0)
        part = asked[start : start + _ASKS_PER_TURN]
        issued = await service.ask(t, part)
        duels += [_duel(duel, query_id, method) for (query_id, _), duel in zip(part, issued, strict=True)]
    service.metrics.asks.update((t.name, duel.serve, duel.why) for duel in duels)
    return out.Duels(duels=duels)


def _queries(body: Ask) -> list[tuple[str | None, str | None]]:
    """Return query id and client id of each duel of a batch. Repeating a batch repeats its query ids."""
    if body.n is not None and body.queries is not None:
        raise Problem("bad-value", "send `n` or `queries`, not both", value=body.n)
    if body.queries is not None:
        if body.query_id is not None:
            raise Problem("bad-value", "send `query_id` or `queries`, not both", value=body.query_id)
        return [(query.query_id, query.client_id or body.client_id) for query in body.queries]
    assert body.n is not None
    if body.query_id is None:
        return [(None, body.client_id)] * body.n
    return [(f"{body.query_id}.{number}", body.client_id) for number in range(body.n)]


def _check_ids(asked: list[tuple[str | None, str | None]]) -> None:
    """Raise a Problem if any id of a batch is invalid."""
    for field, ids in zip(("query_id", "client_id"), zip(*asked, strict=True), strict=True):
        for id in dict.fromkeys(ids):
            if id is not None:
                try:
                    check_name(field, id)
                except ValueError as error:
                    raise Problem("bad-value", str(error), value=id[:MAX_NAME_CHARACTERS]) from None


def _duel(duel: LiveDuel, query_id: str | None, method: str) -> out.Duel:
    return out.Duel(
        duel.id, duel.first, duel.second, duel.seed, duel.expires, duel.ticket, duel.serve, duel.why, method, query_id
    )


# Tell


async def tell(request: Request) -> out.Receipt | out.Receipts:
    """Tell the outcome of one duel, or of a batch of duels. Outcomes are durable when you get the response."""
    body: Tell | list[Tell] = request.body
    service = request.service
    t = await service.tournament(request.path["name"])
    if isinstance(body, Tell):
        (result,) = await service.tell(t, [_tell_item(t, body)])
        service.metrics.tells[t.name, result.status] += 1
        return _single_receipt(result, body)
    results = await service.tell(t, [_tell_item(t, item, index) for index, item in enumerate(body)])
    service.metrics.tells.update((t.name, result.status) for result in results)
    return out.Receipts(receipts=[_receipt(*result) for result in results])


def _tell_item(t: LocalTournament, item: Tell, index: int | None = None) -> TellItem:
    duel = item.ticket or item.duel
    if duel is not None and item.outcome is not None and item.clicks is None:
        return duel, _OUTCOMES[item.outcome]
    at = "$" if index is None else f"$[{index}]"
    if duel is None:
        raise Problem("bad-value", "send `ticket` or `duel`", at=at)
    if (item.outcome is None) == (item.clicks is None):
        raise Problem("bad-value", "send either `outcome` or `clicks`", at=at)
    if item.shown is None:
        raise Problem("bad-value", "`clicks` need `shown`, the page that was clicked", at=at)
    return duel, Clicks(tuple(item.clicks or ()), _page(t, item.shown, f"{at}.shown"))


def _page(t: LocalTournament, shown: dict[str, Any], at: str) -> Interleaved:
    """Read a page. The tournament's interleaving method must have made it."""
    try:
        page = read_page(shown)
    except (ValueError, TypeError, LookupError) as error:
        raise Problem("bad-value", f"invalid page: {error}"[:1000], at=at) from None
    if (error_text := _wrong_method(t, page)) is not None:
        raise Problem("bad-value", error_text, value=page.method, at=at)
    return page


def _wrong_method(t: LocalTournament, page: Interleaved) -> str | None:
    """Return an error if the tournament's interleaving method did not make a page, else None."""
    if page.method == t.method.name:
        return None
    return f"the page was made by {page.method!r}, but the tournament of its query uses {t.method.name!r}"


def _single_receipt(result: TellResult, body: Tell) -> out.Receipt:
    if result.status == Status.CONFLICT:
        detail = f"the duel already has the outcome {result.outcome}, which stays stored"
        raise Problem("conflict", detail, outcome=result.outcome, value=body.outcome)
    if result.status == Status.UNKNOWN:
        raise Problem("unknown-duel", _UNKNOWN_DUEL, value=body.ticket or body.duel)
    return _receipt(*result)


# Show


async def show(request: Request) -> out.ShowStatus | out.ShowStatuses:
    """Report the page that a user saw for a duel, or a batch of pages."""
    body: Show | list[Show] = request.body
    t = await request.service.tournament(request.path["name"])
    if isinstance(body, Show):
        (status,) = await request.service.in_thread(t.show_many, [_show_item(t, body, "$")])
        if status == Status.UNKNOWN:
            raise Problem("unknown-duel", _UNKNOWN_DUEL, value=body.ticket or body.duel)
        return out.ShowStatus(status=status)
    shown = [_show_item(t, item, f"$[{index}]") for index, item in enumerate(body)]
    statuses = await request.service.in_thread(t.show_many, shown)
    return out.ShowStatuses(statuses=[status.value for status in statuses])


def _show_item(t: LocalTournament, item: Show, at: str) -> tuple[str, Interleaved]:
    duel = item.ticket or item.duel
    if duel is None:
        raise Problem("bad-value", "send `ticket` or `duel`", at=at)
    return duel, _page(t, item.shown, f"{at}.shown")


# Events


async def ingest(request: Request) -> out.Ingested:
    """Report user actions as events of User Behavior Insights (UBI) 1.3."""
    service = request.service
    try:
        read = await service.in_thread(read_events, request.body)
    except TypeError as error:
        raise Problem("bad-value", str(error)) from None
    except ValueError as error:  # too many events
        request.charge(MAX_EVENTS_PER_CALL + 1)
        raise Problem("bad-value", str(error)) from None
    request.charge(len(read))
    errors = {index: one for index, one in enumerate(read) if isinstance(one, str)}
    if len(errors) == len(read):
        raise Problem("bad-value", errors[0][:1000] if errors else "no events; send at least one")
    if not (request.key.may("ask") or request.key.may("tell")):
        errors |= {index: f"event {index + 1}: {_NO_PAGES}" for index, one in enumerate(read) if isinstance(one, Shown)}
    valid = {index: one for index, one in enumerate(read) if not isinstance(one, str) and index not in errors}
    statuses = dict.fromkeys(range(len(read)), Status.UNKNOWN.value) | dict.fromkeys(errors, "invalid")
    tournaments = await _tournaments(request)
    for t in tournaments:
        found, wrong = await _observe(request, t, valid, only_known=len(tournaments) > 1)
        errors |= {index: f"event {index + 1}: {error_text}" for index, error_text in wrong.items()}
        for index, status in (found | dict.fromkeys(wrong, "invalid")).items():
            statuses[index] = min(statuses[index], status, key=_STATUSES.index)
    service.metrics.events.update(statuses.values())
    invalid = [error_text for index, error_text in sorted(errors.items()) if statuses[index] == "invalid"]
    return out.Ingested(statuses=list(statuses.values()), errors=invalid)


async def _observe(
    request: Request, t: LocalTournament, events: dict[int, Signal | Shown], *, only_known: bool
) -> tuple[dict[int, str], dict[int, str]]:
    """Report events to a tournament. Return statuses, and errors of pages by another method, both by index.

    With `only_known`, skip events for queries without a duel in this tournament.
    """
    if only_known:
        known = await request.service.in_thread(t.known, [one.query_id for one in events.values()])
        events = {index: one for index, one in events.items() if one.query_id in known}
    wrong = {
        index: error_text
        for index, one in events.items()
        if isinstance(one, Shown) and (error_text := _wrong_method(t, one.page)) is not None
    }
    observed = {index: one for index, one in events.items() if index not in wrong}
    statuses = await request.service.in_thread(t.observe, list(observed.values()))
    return {index: status.value for index, status in zip(observed, statuses, strict=True)}, wrong


async def _tournaments(request: Request) -> list[LocalTournament]:
    """Return the tournaments that events may belong to: the one in the query string, or all open ones."""
    service = request.service
    if (name := request.query.get("tournament")) is not None:
        return [await service.tournament(name)]
    found = await service.open_among(await service.in_thread(service.open_tournaments.names))
    running = [t for t in found if t.status not in ("stopped", "archived")]
    if not running:
        raise Problem("unknown-tournament", "there is no tournament that runs or is paused; create one")
    return running


_TOURNAMENT = "/v1/tournaments/{name}"
_UNKNOWN = ("unknown-tournament", "unknown-duel")
ROUTES = (
    Route("POST", _TOURNAMENT + "/ask", "ask", ask, (out.Duel, out.Duels), Ask, problems=("unknown-tournament",)),
    Route(
        "POST",
        _TOURNAMENT + "/tell",
        "tell",
        tell,
        (out.Receipt, out.Receipts),
        Tell | Tells,
        problems=(*_UNKNOWN, "conflict"),
    ),
    Route(
        "POST",
        _TOURNAMENT + "/show",
        "tell",
        show,
        (out.ShowStatus, out.ShowStatuses),
        Show | Shows,
        problems=(*_UNKNOWN, "conflict"),
    ),
    Route(
        "POST",
        "/v1/events",
        "ingest",
        ingest,
        out.Ingested,
        bytes,
        problems=("unknown-tournament",),
        parameters=(
            Parameter(
                "tournament", "The tournament of the events. Default: every tournament that has a duel for the query."
            ),
            Parameter("key", "An API key with only the scope ingest, for `sendBeacon`, which cannot send headers."),
        ),
        media_types=("application/json", "application/x-ndjson", "text/plain"),
    ),
)
