"""Dashboard routes: overview, standings, preference matrix, batches, audit, checks and report."""

from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Raw, Struct

from rankduel.dashboard import (
    Forecast,
    HealthStatus,
    LeaderboardRow,
    PreferenceGrid,
    Report,
    UserEffect,
    fair_sides,
    health_status,
    leaderboard,
    markdown,
    preference_grid,
    progress,
    report,
    summary_sentence,
)
from rankduel.dashboard.comparisons import rivals
from rankduel.dashboard.leaderboard import INTERVAL_CONFIDENCE
from rankduel.dashboard.report import confidence_reached
from rankduel.errors import StorageError
from rankduel.live import Event, LocalTournament, View
from rankduel.live.client_counts import ClientCounts
from rankduel.live.runtime.clock import now
from rankduel.live.standings import decision
from rankduel.service.forecasts import Forecasts
from rankduel.service.http import response_schemas as out
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import (
    Request,
    Route,
    encode,
    reads_tournament,
    reads_tournament_cached,
    reads_tournament_slowly,
)
from rankduel.service.routes.duel_detail import DuelDetail, show_duel
from rankduel.service.routes.read import PAGINATION, UNKNOWN, counts_out, event_out, public_settings

__all__ = ["ROUTES", "Overview", "overview_of"]

_DAY_SECONDS = 86_400.0
_MAX_COUNTING_SHARE = 0.05  # of the time is spent on counting clients
_MIN_RATE_SECONDS = 60.0  # minimum time over which outcomes per day are measured


class Overview(Struct):
    """The state of a tournament: a summary sentence, and the numbers behind it.

    `confidence` is the confidence that a decision has. It is reached only if `confidence_reached` is true.
    """

    name: str
    status: str
    sentence: str
    meaning: str  # the assumptions on which the decision in the sentence holds
    users_see: str  # what users see now, in one sentence
    effects: dict[str, str]  # what users will see after each action that is possible now
    rollout: out.Rollout | None
    champion: str
    winner: str | None
    tied: list[str]
    rankers: int
    rankers_left: int
    resolved: int
    today: int | None  # outcomes since midnight UTC; None, here and below: the storage cannot be read
    per_day: float | None  # outcomes per day, at the rate of the last day
    confidence: float | None  # None: the bandit gives no guarantee
    confidence_reached: bool
    ends: bool  # whether the bandit reaches a decision
    progress: float | None  # towards the decision, from 0 to 1; None: the bandit makes no decision
    batched: bool  # whether the bandit divides its rankers into batches
    light: HealthStatus
    duels: out.Counts
    forecast: Forecast | None
    effect: UserEffect | None  # on users so far
    settings: dict[str, Any]
    begun: float | None
    begun_by: str  # the API key that created it, or nothing
    active: float  # time of the last event: an outcome, or an action of an operator or a guardrail
    number: int  # of the last event


class Standings(Struct):
    """The whole leaderboard."""

    rankers: list[LeaderboardRow]
    level: float  # confidence level of the intervals


class Batch(Struct):
    """A batch of rankers. Rankers meet only within their batch."""

    champion: str
    rankers: list[str]


class Batches(Struct):
    """The batches in which rankers meet. There is a single batch if the bandit does not use batches."""

    bandit: str
    divided: bool  # whether the bandit uses batches
    batches: list[Batch]


class Audit(Struct):
    """Changes by operators and guardrails, newest first."""

    events: list[out.Event]
    next: int | None


class Checks(Struct):
    """Checks of the health page, in addition to the numbers of `health`."""

    sides: float  # p-value of the hypothesis that both sides win equally often
    pages: int  # pages that were reported as shown
    guardrails: list[dict[str, Any]]  # each with `events`, the number of pages with its action so far


async def overview(request: Request) -> Response:
    """The state of a tournament: a summary sentence, and the numbers behind it."""
    service = request.service
    t = await service.tournament(request.path["name"])
    forecasts = service.forecasts.of(t)
    return json_response(await service.reads.answer(("overview", t.name), lambda: encode(overview_of(t, forecasts))))


@reads_tournament_cached
def standings(t: LocalTournament, query: dict[str, Any]) -> Standings:
    """The whole leaderboard, with intervals, evidence and batches."""
    lines = leaderboard(t.view())
    rankers: list[Any] = [Raw(encode(line)) for line in lines]  # one by one: other threads run in between
    return Standings(rankers=rankers, level=INTERVAL_CONFIDENCE)


@reads_tournament_cached
def matrix(t: LocalTournament, query: dict[str, Any]) -> PreferenceGrid:
    """The preference matrix in the order of the leaderboard. More than `cells` rankers are grouped."""
    return preference_grid(t.view(), query["cells"], query["first"], query["last"] or None)


@reads_tournament_cached
def batches(t: LocalTournament, query: dict[str, Any]) -> Batches:
    """The batches in which rankers currently meet."""
    view = t.view()
    position = {line.ranker: number for number, line in enumerate(leaderboard(view))}
    groups = view.batches if view.batches is not None else (tuple(view.alive.tolist()),)
    found = []
    for group in groups:
        names = sorted((view.names[arm] for arm in group), key=position.__getitem__)
        found.append(Batch(champion=names[0], rankers=names))
    return Batches(bandit=view.bandit, divided=view.batches is not None, batches=found)


@reads_tournament
def audit(t: LocalTournament, query: dict[str, Any]) -> Audit:
    """Changes by operators and guardrails, newest first."""
    limit = query["limit"]
    found = t.audit(limit + 1, query["after"] or None)
    events = [event_out(event) for event in found[:limit]]
    for event in events:
        if event.kind == "created":
            event.body["rankers"] = len(event.body["rankers"])
    return Audit(events=events, next=events[-1].number if len(found) > limit else None)


@reads_tournament
def checks(t: LocalTournament, query: dict[str, Any]) -> Checks:
    """The test that both sides win equally often, and the counts of the guardrails."""
    view, counters = t.view(), t.counters()
    rails = [rail | {"events": counters.get(f"pages with {rail['action']}", 0)} for rail in view.settings.guardrails]
    return Checks(sides=fair_sides(t.health()), pages=counters.get("pages", 0), guardrails=rails)


@reads_tournament_slowly
def report_json(t: LocalTournament, query: dict[str, Any]) -> Report:
    """The decision report as JSON."""
    return report(t, _clients(t))


async def report_markdown(request: Request) -> Response:
    """The decision report as Markdown."""
    service = request.service
    t = await service.tournament(request.path["name"])
    text = await service.replays.answer(("report_markdown", t.name), lambda: markdown(report(t, _clients(t))).encode())
    name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in t.name)[:80]
    disposition = f'attachment; filename="{name}.md"'.encode()
    return Response(text, b"text/plain; charset=utf-8", headers=((b"content-disposition", disposition),))


def overview_of(t: LocalTournament, forecasts: Forecasts | None) -> Overview:
    """Return the overview of a tournament. The caller gives the forecasts, which are made in the event loop."""
    view, health = t.view(), t.health()
    stored = _stored(t, view)
    if stored is None:
        stored, health = _Stored(), replace(health, failure=health.failure or "the storage cannot be read")
    expected = _updated_forecast(view, forecasts)
    found = decision(view)
    return Overview(
        name=t.name,
        status=view.status,
        sentence=summary_sentence(view, expected, stored.per_day or 0, failing=health.failure is not None),
        meaning=found.meaning,
        users_see=t.users_see,
        effects=t.effects(),
        rollout=None if t.rollout is None else out.Rollout(*t.rollout),
        champion=found.champion,
        winner=found.winner,
        tied=list(found.tied),
        rankers=len(view.names),
        rankers_left=len(view.alive),
        resolved=view.resolved,
        today=stored.today,
        per_day=stored.per_day,
        confidence=None if found.delta is None else 1 - found.delta,
        confidence_reached=confidence_reached(found),
        ends=view.ends,
        progress=progress(view),
        batched=view.batches is not None,
        light=health_status(view, health, stored.paused),
        duels=counts_out(health.counts),
        forecast=expected,
        effect=None if forecasts is None else forecasts.effect,
        settings=public_settings(view.settings),
        begun=stored.begun,
        begun_by=stored.begun_by,
        active=view.time,
        number=view.number,
    )


_counted: WeakKeyDictionary[LocalTournament, tuple[float, ClientCounts]] = WeakKeyDictionary()


def _clients(t: LocalTournament) -> ClientCounts:
    """Return the numbers of clients. Counting takes seconds after a million duels, so it takes 5 % of the time."""
    due, counts = _counted.get(t, (0.0, None))
    pairs = rivals(t.view())
    if counts is None or counts.of_pairs.keys() != pairs.keys() or monotonic() >= due:
        begun = monotonic()
        counts = t.count_clients(pairs)
        _counted[t] = monotonic() + (monotonic() - begun) / _MAX_COUNTING_SHARE, counts
    return counts


class _Stored(NamedTuple):
    """The part of an overview that comes from the storage."""

    begun: float | None = None
    begun_by: str = ""
    today: int | None = None
    per_day: float | None = None
    paused: Event | None = None  # the event that paused the tournament


def _stored(t: LocalTournament, view: View) -> _Stored | None:
    """Read the stored part of an overview, or return None if the storage fails."""
    try:
        created = t.audit(1, before=2)[0]  # the first event
        begun, by = created.time, created.body.get("by", "")
        window = min(_DAY_SECONDS, max(_MIN_RATE_SECONDS, now() - begun))
        per_day = t.resolved_since(now() - window) * _DAY_SECONDS / window
        changes = t.audit() if view.status == "paused" else []
        paused = next((event for event in changes if event.kind == "paused"), None)
        return _Stored(begun, by, t.resolved_since(now() // _DAY_SECONDS * _DAY_SECONDS), per_day, paused)
    except StorageError:
        return None


def _updated_forecast(view: View, forecasts: Forecasts | None) -> Forecast | None:
    """Return the forecast minus the duels that were resolved since it was computed."""
    made = None if forecasts is None else forecasts.forecast
    if forecasts is None or made is None:
        return None
    more = view.resolved - forecasts.resolved
    duels, least, most = (None if n is None else max(0, n - more) for n in (made.duels, made.least, made.most))
    return Forecast(duels, least, most, made.runs)


_TOURNAMENT = "/v1/tournaments/{name}"
_MAX_POSITION = 2**31
_MATRIX_PART = (
    Parameter(
        "cells", "Maximum number of rows and columns. More rankers are grouped.", default=100, minimum=1, maximum=400
    ),
    Parameter("first", "Leaderboard position of the first ranker, counted from 0.", default=0, maximum=_MAX_POSITION),
    Parameter(
        "last", "Leaderboard position after the last ranker. 0 means all rankers.", default=0, maximum=_MAX_POSITION
    ),
)
ROUTES = (
    Route("GET", _TOURNAMENT + "/overview", "read", overview, Overview, problems=UNKNOWN),
    Route("GET", _TOURNAMENT + "/standings", "read", standings, Standings, problems=UNKNOWN),
    Route("GET", _TOURNAMENT + "/matrix", "read", matrix, PreferenceGrid, problems=UNKNOWN, parameters=_MATRIX_PART),
    Route("GET", _TOURNAMENT + "/batches", "read", batches, Batches, problems=UNKNOWN),
    Route("GET", _TOURNAMENT + "/duels/{duel}", "read", show_duel, DuelDetail, problems=(*UNKNOWN, "unknown-duel")),
    Route("GET", _TOURNAMENT + "/audit", "read", audit, Audit, problems=UNKNOWN, parameters=PAGINATION),
    Route("GET", _TOURNAMENT + "/checks", "read", checks, Checks, problems=UNKNOWN),
    Route("GET", _TOURNAMENT + "/report", "read", report_json, Report, problems=UNKNOWN),
    Route("GET", _TOURNAMENT + "/report.md", "read", report_markdown, str, problems=UNKNOWN),
)
