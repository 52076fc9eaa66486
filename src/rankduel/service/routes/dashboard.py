"""The calls that explain: where a tournament stands in words, who beats whom, what should be looked at, the report."""

from dataclasses import replace
from itertools import starmap
from time import time as now
from typing import Any, NamedTuple

from msgspec import Raw, Struct

from rankduel.dashboard import (
    Forecast,
    Harm,
    HealthStatus,
    LeaderboardRow,
    PreferenceGrid,
    Report,
    fair_sides,
    health_status,
    leaderboard,
    markdown,
    preference_grid,
    report,
    summary_sentence,
)
from rankduel.dashboard.leaderboard import INTERVAL_CONFIDENCE
from rankduel.errors import StorageError
from rankduel.live import Event, LocalTournament, View
from rankduel.service.forecasts import Forecasts
from rankduel.service.http.routing import (
    Call,
    Parameter,
    Plain,
    Request,
    encode,
    plain_json,
    reads_tournament,
    reads_tournament_cached,
    reads_tournament_slowly,
)
from rankduel.service.http.schemas import Broken, CountsOut, EventOut
from rankduel.service.routes.duel_detail import DuelDetail, show_duel
from rankduel.service.routes.read import LINES, NONE, broken_among, counts_out, event_out, open_settings

__all__ = ["CALLS"]

_DAY = 86_400.0


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
    today: int | None  # outcomes since midnight, UTC; None, as others: the storage cannot be read
    per_day: float | None  # outcomes, at the rate of the last day
    certainty: float | None
    ends: bool  # whether the algorithm comes to a decision
    light: HealthStatus
    duels: CountsOut
    forecast: Forecast | None
    harm: Harm | None
    settings: dict[str, Any]
    begun: float | None
    number: int  # of the last event


class Cards(Struct):
    """All tournaments, each as its overview, and those that cannot be opened."""

    tournaments: list[Overview]
    broken: list[Broken]


class Standings(Struct):
    """The whole leaderboard; a ranker goes when the evidence against it reaches `enough`."""

    rankers: list[LeaderboardRow]
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


class Audit(Struct):
    """What operators and guardrails did, newest first."""

    events: list[EventOut]
    next: int | None


class Checks(Struct):
    """What the health page judges, beside the numbers of `health`."""

    sides: float  # p-value of "both sides win equally often"
    pages: int  # that users have seen
    guardrails: list[dict[str, Any]]  # each with its `events`: the pages with its action up to now


async def cards(request: Request) -> Plain:
    """All tournaments, as the dashboard lists them."""
    service = request.service
    try:
        names = await service.names()
    except StorageError:
        names = sorted((*service.open_tournaments.tournaments, *service.open_tournaments.broken))
    shown = [(t, service.forecasts.of(t)) for t in await service.open_among(names)]
    broken = broken_among(service, names)
    key = "overviews", *names
    return plain_json(await service.reads.answer(key, lambda: encode(Cards([*starmap(_overview, shown)], broken))))


async def overview(request: Request) -> Plain:
    """Where a tournament stands, in one sentence and the numbers behind it."""
    service = request.service
    t = await service.tournament(request.path["name"])
    known = service.forecasts.of(t)
    return plain_json(await service.reads.answer(("overview", t.name), lambda: encode(_overview(t, known))))


@reads_tournament_cached
def standings(t: LocalTournament, query: dict[str, Any]) -> Standings:
    """The whole leaderboard, with intervals, evidence and batches."""
    view = t.view()
    rankers: list[Any] = [Raw(encode(line)) for line in leaderboard(view)]  # one by one: other threads run in between
    return Standings(rankers=rankers, enough=view.enough, level=INTERVAL_CONFIDENCE)


@reads_tournament_cached
def matrix(t: LocalTournament, query: dict[str, Any]) -> PreferenceGrid:
    """Who beats whom, in the order of the leaderboard, in at most so many rows and columns."""
    return preference_grid(t.view(), query["cells"], query["first"], query["last"] or None)


@reads_tournament_cached
def batches(t: LocalTournament, query: dict[str, Any]) -> Batches:
    """The groups in which rankers meet now."""
    view = t.view()
    place = {line.ranker: number for number, line in enumerate(leaderboard(view))}
    groups = view.batches if view.batches is not None else (tuple(view.alive.tolist()),)
    found = []
    for group in groups:
        names = sorted((view.names[arm] for arm in group), key=place.__getitem__)
        found.append(Batch(champion=names[0], rankers=names))
    return Batches(bandit=view.bandit, divided=view.batches is not None, batches=found)


@reads_tournament
def audit(t: LocalTournament, query: dict[str, Any]) -> Audit:
    """What operators and guardrails did, newest first."""
    limit = query["limit"]
    found = t.audit(limit + 1, query["after"] or None)
    events = [event_out(event) for event in found[:limit]]
    for event in events:
        if event.kind == "created":
            event.body["rankers"] = len(event.body["rankers"])
    return Audit(events=events, next=events[-1].number if len(found) > limit else None)


@reads_tournament
def checks(t: LocalTournament, query: dict[str, Any]) -> Checks:
    """Whether both sides win equally often, and what the guardrails have seen."""
    view, counters = t.view(), t.counters()
    rails = [rail | {"events": counters.get(f"pages with {rail['action']}", 0)} for rail in view.settings.guardrails]
    return Checks(sides=fair_sides(t.health()), pages=counters.get("pages", 0), guardrails=rails)


@reads_tournament_slowly
def report_json(t: LocalTournament, query: dict[str, Any]) -> Report:
    """The decision as a document, for programs."""
    return report(t)


async def report_markdown(request: Request) -> Plain:
    """The decision as a document, in Markdown."""
    service = request.service
    t = await service.tournament(request.path["name"])
    text = await service.replays.answer(("report_markdown", t.name), lambda: markdown(report(t)).encode())
    name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in t.name)[:80]
    disposition = f'attachment; filename="{name}.md"'.encode()
    return Plain(text, b"text/plain; charset=utf-8", headers=((b"content-disposition", disposition),))


def _overview(t: LocalTournament, known: Forecasts | None) -> Overview:
    view, health = t.view(), t.health()
    stored = _stored(t, view)
    if stored is None:
        stored, health = Stored(), replace(health, failure=health.failure or "the storage cannot be read")
    foreseen = _since(view, known)
    confidence = view.decision.confidence
    return Overview(
        name=t.name,
        status=view.status,
        sentence=summary_sentence(view, foreseen, stored.per_day or 0, failing=health.failure is not None),
        champion=view.names[view.champion],
        winner=None if view.decision.winner is None else view.names[view.decision.winner],
        tied=[view.names[arm] for arm in view.decision.tied],
        rankers=len(view.names),
        rankers_left=len(view.alive),
        told=view.told,
        today=stored.today,
        per_day=stored.per_day,
        certainty=None if confidence.delta is None else 1 - confidence.delta,
        ends=view.ends,
        light=health_status(view, health, stored.paused),
        duels=counts_out(health.counts),
        forecast=foreseen,
        harm=None if known is None else known.harm,
        settings=open_settings(view.settings),
        begun=stored.begun,
        number=view.number,
    )


class Stored(NamedTuple):
    """What an overview needs from the storage."""

    begun: float | None = None
    today: int | None = None
    per_day: float | None = None
    paused: Event | None = None  # that has paused it


def _stored(t: LocalTournament, view: View) -> Stored | None:
    """All of it, or None if the storage does not answer."""
    try:
        begun = t.audit(1, before=2)[0].time  # the first event
        window = min(_DAY, max(60.0, now() - begun))  # the last day, or the time since the beginning
        per_day = t.told_since(now() - window) * _DAY / window
        changes = t.audit() if view.status == "paused" else []
        paused = next((event for event in changes if event.kind == "paused"), None)
        return Stored(begun, t.told_since(now() // _DAY * _DAY), per_day, paused)
    except StorageError:
        return None


def _since(view: View, known: Forecasts | None) -> Forecast | None:
    """The forecast, less the duels since it was made."""
    made = None if known is None else known.forecast
    if known is None or made is None:
        return None
    more = view.told - known.told
    duels, least, most = (None if n is None else max(0, n - more) for n in (made.duels, made.least, made.most))
    return Forecast(duels, least, most, made.runs)


_AT = "/v1/tournaments/{name}"
_PART = (
    Parameter("cells", "Rows and columns at most; rankers are put together in groups.", default=100, least=1, most=400),
    Parameter("first", "Place on the leaderboard of the first ranker, from 0.", default=0, least=0, most=2**31),
    Parameter("last", "Place after that of the last ranker; 0: all.", default=0, least=0, most=2**31),
)
CALLS = (
    Call("GET", "/v1/overviews", "read", cards, Cards),
    Call("GET", _AT + "/overview", "read", overview, Overview, problems=NONE),
    Call("GET", _AT + "/standings", "read", standings, Standings, problems=NONE),
    Call("GET", _AT + "/matrix", "read", matrix, PreferenceGrid, problems=NONE, parameters=_PART),
    Call("GET", _AT + "/batches", "read", batches, Batches, problems=NONE),
    Call("GET", _AT + "/duels/{duel}", "read", show_duel, DuelDetail, problems=(*NONE, "unknown-duel")),
    Call("GET", _AT + "/audit", "read", audit, Audit, problems=NONE, parameters=LINES),
    Call("GET", _AT + "/checks", "read", checks, Checks, problems=NONE),
    Call("GET", _AT + "/report", "read", report_json, Report, problems=NONE),
    Call("GET", _AT + "/report.md", "read", report_markdown, str, problems=NONE),
)
