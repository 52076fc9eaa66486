"""The calls that explain: where a tournament stands in words, who beats whom, why a duel was as it was, the report."""

import json
from collections.abc import Callable
from functools import partial
from time import time as now
from typing import Any, TypeVar

from msgspec import Struct

from rankduel.dashboard import (
    Forecast,
    Grid,
    Harm,
    Light,
    Line,
    Report,
    grid,
    light,
    lines,
    markdown,
    report,
    sentence,
    why_they_met,
)
from rankduel.dashboard.lights import fair_sides
from rankduel.live import Tournament, View
from rankduel.service.bodies import CountsOut, EventOut, KnownDuel
from rankduel.service.calls import Call, Parameter, Plain, Request
from rankduel.service.outlooks import Outlook
from rankduel.service.problems import Problem
from rankduel.service.standing import counts_out, duel_out, open_body

__all__ = ["CALLS"]

_DAY = 86_400.0
T = TypeVar("T")


class Overview(Struct):
    """Where a tournament stands, in one sentence and the numbers behind it."""

    name: str
    status: str
    sentence: str
    champion: str
    winner: str | None
    tied: list[str]
    rankers: int
    rankers_left: int
    told: int
    today: int  # outcomes since midnight, UTC
    per_day: float  # outcomes, at the rate of the last day
    certainty: float | None
    light: Light
    duels: CountsOut
    forecast: Forecast | None
    harm: Harm | None
    settings: dict[str, Any]
    begun: float
    number: int  # of the last event


class Cards(Struct):
    """All tournaments, each as its overview."""

    tournaments: list[Overview]


class Standings(Struct):
    """The whole leaderboard; a ranker goes when the evidence against it reaches `enough`."""

    rankers: list[Line]
    enough: float | None
    level: float  # of the intervals


class Batch(Struct):
    """Rankers that meet only each other."""

    champion: str
    rankers: list[str]


class Batches(Struct):
    """The groups in which an algorithm lets rankers meet; a single one if it lets all meet all."""

    bandit: str
    divided: bool  # whether the algorithm has batches
    batches: list[Batch]


class SignalOut(Struct):
    """Something that a user did."""

    time: float
    action: str
    object: str | None
    position: int | None
    dwell: float | None


class DuelDetail(KnownDuel):
    """A duel, with the page that was shown, what users did on it, and why these two met."""

    page: dict[str, Any] | None
    signals: list[SignalOut]
    propensity: list[float] | None
    why: str
    learnt: bool


class Audit(Struct):
    """What operators and guardrails did, newest first."""

    events: list[EventOut]
    next: int | None


class Checks(Struct):
    """What the health page judges, beside the numbers of `health`."""

    light: Light
    sides: float | None  # p-value of "both sides win equally often"; None: the algorithm does not toss for sides
    pages: int  # that users have seen
    guardrails: list[dict[str, Any]]  # each with its `events` up to now


async def cards(request: Request) -> Cards:
    """All tournaments, as the dashboard lists them."""
    service = request.service
    found = []
    for name in await service.off(service.house.names):
        t = await service.tournament(name)
        found.append(await service.off(_overview, t, service.outlooks.of(t)))
    return Cards(tournaments=found)


async def overview(request: Request) -> Overview:
    """Where a tournament stands, in one sentence and the numbers behind it."""
    t = await request.service.tournament(request.path["name"])
    return await request.service.off(_overview, t, request.service.outlooks.of(t))


async def standings(request: Request) -> Standings:
    """The whole leaderboard, with intervals, evidence and batches."""
    return await _look(request, _standings)


async def matrix(request: Request) -> Grid:
    """Who beats whom, in the order of the leaderboard, in at most so many rows and columns."""
    query = request.query
    return await _look(request, partial(_grid, query["cells"], query["first"], query["last"] or None))


async def batches(request: Request) -> Batches:
    """The groups in which rankers meet now."""
    return await _look(request, _batches)


async def show_duel(request: Request) -> DuelDetail:
    """One duel: its page, what users did, and why these two met."""
    return await _look(request, partial(_duel, request.path["duel"]))


async def audit(request: Request) -> Audit:
    """What operators and guardrails did, newest first."""
    return await _look(request, partial(_audit, request.query["limit"], request.query["after"]))


async def checks(request: Request) -> Checks:
    """What should be looked at, and what the guardrails have seen."""
    return await _look(request, _checks)


async def report_json(request: Request) -> Report:
    """The decision as a document, for programs."""
    return await _look(request, report)


async def report_markdown(request: Request) -> Plain:
    """The decision as a document, in Markdown."""
    made = await _look(request, report)
    name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in made.tournament)[:80]
    disposition = f'attachment; filename="{name}.md"'.encode()
    text = markdown(made).encode()
    return Plain(text, b"text/plain; charset=utf-8", headers=((b"content-disposition", disposition),))


async def _look(request: Request, look: Callable[[Tournament], T]) -> T:
    t = await request.service.tournament(request.path["name"])
    return await request.service.off(look, t)


def _overview(t: Tournament, known: Outlook | None) -> Overview:
    view, health = t.view(), t.health()
    begun = next(t.journal()).time
    per_day = _per_day(t, begun)
    confidence = view.decision.confidence
    settings = open_body(view.settings.to_dict())
    del settings["rankers"]
    return Overview(
        name=t.name,
        status=view.status,
        sentence=_sentence(view, known, per_day, failing=health.failure is not None),
        champion=view.names[view.champion],
        winner=None if view.decision.winner is None else view.names[view.decision.winner],
        tied=[view.names[arm] for arm in view.decision.tied],
        rankers=len(view.names),
        rankers_left=len(view.alive),
        told=view.told,
        today=t.told_since(now() // _DAY * _DAY),
        per_day=per_day,
        certainty=None if confidence.delta is None else 1 - confidence.delta,
        light=light(view, health),
        duels=counts_out(health.counts),
        forecast=None if known is None else _since(view, known),
        harm=None if known is None else known.harm,
        settings=settings,
        begun=begun,
        number=view.number,
    )


def _sentence(view: View, known: Outlook | None, per_day: float, *, failing: bool) -> str:
    return sentence(view, None if known is None else _since(view, known), per_day, failing=failing)


def _since(view: View, known: Outlook) -> Forecast | None:
    """The forecast, less the duels since it was made."""
    made, more = known.forecast, view.told - known.told
    if made is None or made.duels is None or made.least is None or made.most is None:
        return made
    return Forecast(max(0, made.duels - more), max(0, made.least - more), max(0, made.most - more), made.runs)


def _per_day(t: Tournament, begun: float) -> float:
    """Outcomes a day, at the rate of the last day, or of the time since the first one."""
    window = min(_DAY, max(60.0, now() - begun))
    return t.told_since(now() - window) * _DAY / window


def _standings(t: Tournament) -> Standings:
    view = t.view()
    return Standings(rankers=lines(view), enough=view.enough, level=0.95)


def _grid(cells: int, first: int, last: int | None, t: Tournament) -> Grid:
    return grid(t.view(), cells, first, last)


def _batches(t: Tournament) -> Batches:
    view = t.view()
    place = {line.ranker: number for number, line in enumerate(lines(view))}
    groups = view.batches if view.batches is not None else (tuple(view.alive.tolist()),)
    found = []
    for group in groups:
        names = sorted((view.names[arm] for arm in group), key=place.__getitem__)
        found.append(Batch(champion=names[0], rankers=names))
    return Batches(bandit=view.bandit, divided=view.batches is not None, batches=found)


def _duel(id: str, t: Tournament) -> DuelDetail:
    session, _, number = id.partition("-")
    whole = session.isdecimal() and number.isdecimal() and id.isascii() and len(id) <= 19
    row = t.storage.duel(t.name, int(session), int(number)) if whole else None
    if row is None:
        raise Problem("unknown-duel", f"{t.name!r} has no such duel", value=id[:200])
    seen = t.storage.signals(t.name, row.session, row.number)
    propensity = None
    if row.first_propensity is not None and row.second_propensity is not None:
        propensity = [row.first_propensity, row.second_propensity]
    known = duel_out(row, t.rankers)
    return DuelDetail(
        **{name: getattr(known, name) for name in KnownDuel.__struct_fields__},
        page=None if row.page is None else json.loads(row.page),
        signals=[SignalOut(one.time, one.action, one.object, one.position, one.dwell) for one in seen],
        propensity=propensity,
        why=why_they_met(t.view(), row),
        learnt=row.state == "told",
    )


def _audit(limit: int, after: int, t: Tournament) -> Audit:
    found = t.audit(limit + 1, after or None)
    events = [EventOut(one.number, one.time, one.kind, open_body(one.body)) for one in found[:limit]]
    for event in events:
        if event.kind == "created":
            event.body["rankers"] = len(event.body["rankers"])
    return Audit(events=events, next=events[-1].number if len(found) > limit else None)


def _checks(t: Tournament) -> Checks:
    view, health, counters = t.view(), t.health(), t.counters()
    rails = [rail | {"events": counters.get(f"action {rail['action']}", 0)} for rail in view.settings.guardrails]
    return Checks(
        light=light(view, health), sides=fair_sides(view, health), pages=counters.get("pages", 0), guardrails=rails
    )


_AT = "/v1/tournaments/{name}"
_NONE = ("unknown-tournament",)
_LIMIT = Parameter("limit", "Lines of a page.", default=100, least=1, most=1000)
_AFTER = Parameter("after", "The `next` of the page before.", default=0, least=0, most=2**48)
_PART = (
    Parameter("cells", "Rows and columns at most; rankers are put together in groups.", default=100, least=1, most=400),
    Parameter("first", "Place on the leaderboard of the first ranker, from 0.", default=0, least=0, most=2**31),
    Parameter("last", "Place after that of the last ranker; 0: all.", default=0, least=0, most=2**31),
)
CALLS = (
    Call("GET", "/v1/overviews", "read", cards, Cards),
    Call("GET", _AT + "/overview", "read", overview, Overview, problems=_NONE),
    Call("GET", _AT + "/standings", "read", standings, Standings, problems=_NONE),
    Call("GET", _AT + "/matrix", "read", matrix, Grid, problems=_NONE, parameters=_PART),
    Call("GET", _AT + "/batches", "read", batches, Batches, problems=_NONE),
    Call("GET", _AT + "/duels/{duel}", "read", show_duel, DuelDetail, problems=(*_NONE, "unknown-duel")),
    Call("GET", _AT + "/audit", "read", audit, Audit, problems=_NONE, parameters=(_LIMIT, _AFTER)),
    Call("GET", _AT + "/checks", "read", checks, Checks, problems=_NONE),
    Call("GET", _AT + "/report", "read", report_json, Report, problems=_NONE),
    Call("GET", _AT + "/report.md", "read", report_markdown, str, problems=_NONE),
)
