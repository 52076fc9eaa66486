"""Read routes: results, duels, health and journal of tournaments. Long responses are paginated."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from rankduel.dashboard import enough_at_elimination
from rankduel.errors import StorageError
from rankduel.live import Counts, DuelRow, Event, Guardrail, LocalTournament, standings
from rankduel.live.defaults import DEFAULT_ROLLOUT_SHARE, DEFAULTS
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.live.settings import Settings
from rankduel.service.http import response_schemas as out
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request, Route, encode, reads_tournament, reads_tournament_cached
from rankduel.service.service import Service

__all__ = [
    "PAGINATION",
    "ROUTES",
    "UNKNOWN",
    "broken_among",
    "counts_out",
    "duel_fields",
    "event_out",
    "public_settings",
    "tournament_out",
]

_SECRET_FIELDS = ("salt", "seed")  # they would let others guess client ids and pages
T = TypeVar("T")


async def list_tournaments(request: Request) -> Response:
    """All tournaments in alphabetical order, without archived ones unless you ask for them."""
    service, limit, after = request.service, request.query["limit"], request.query.get("after", "")
    names = [name for name in await service.tournament_names() if name > after]
    if request.query.get("archived") != "true":
        archived = {t.name for t in await service.open_among(names) if t.status == "archived"}
        names = [name for name in names if name not in archived]
    opened = await service.open_among(names[:limit])
    broken = broken_among(service, names[:limit])
    next = names[limit - 1] if len(names) > limit else None
    key = "tournaments", next, *(t.name for t in opened), *(one.name for one in broken)
    return json_response(await service.reads.answer(key, partial(_summaries, opened, broken, next)))


def _summaries(opened: list[LocalTournament], broken: list[out.Broken], next: str | None) -> bytes:
    summaries = [out.Summary(**_summary_fields(t)) for t in opened]
    return encode(out.TournamentPage(tournaments=summaries, broken=broken, next=next))


def broken_among(service: Service, names: Iterable[str]) -> list[out.Broken]:
    """Return the tournaments with these names that cannot be opened, with the reasons."""
    broken = service.open_tournaments.broken
    return [out.Broken(name, broken[name]) for name in names if name in broken]


async def defaults(request: Request) -> out.Defaults:
    """The defaults of a new tournament."""
    return _DEFAULTS


@reads_tournament
def show_tournament(t: LocalTournament, query: dict[str, Any]) -> out.Tournament:
    """A tournament: status, champion, rankers left, duels and settings."""
    return tournament_out(t)


@reads_tournament_cached
def rankers(t: LocalTournament, query: dict[str, Any]) -> out.RankerPage:
    """All rankers, including eliminated and retired ones, in the order in which they were added."""
    rows, next = _page(lambda start, stop: t.view().names[start:stop], query)
    return out.RankerPage(rankers=[out.Ranker(ranker) for ranker in rows], next=next)


@reads_tournament_cached
def leaderboard(t: LocalTournament, query: dict[str, Any]) -> out.LeaderboardPage:
    """All rankers, best first."""
    rows, next = _page(partial(standings.leaderboard, t.view()), query)
    return out.LeaderboardPage(standings=[_from(row, out.Standing) for row in rows], next=next)


@reads_tournament_cached
def timeline(t: LocalTournament, query: dict[str, Any]) -> out.TimelinePage:
    """Eliminated and retired rankers, in the order in which they left."""
    view = t.view()
    rows, next = _page(partial(standings.timeline, view), query)
    departures = [_from(row, out.Departure, enough=enough_at_elimination(view, row)) for row in rows]
    return out.TimelinePage(departures=departures, next=next)


@reads_tournament_cached
def preferences(t: LocalTournament, query: dict[str, Any]) -> out.PairPage:
    """The pairs of rankers that have met, with wins, losses and ties."""
    rows, next = _page(partial(standings.preferences, t.view()), query)
    return out.PairPage(pairs=[_from(row, out.Pair) for row in rows], next=next)


@reads_tournament_cached
def decision(t: LocalTournament, query: dict[str, Any]) -> out.Decision:
    """The winner or the tied rankers, if it is decided, with the confidence."""
    return _from(t.decision(), out.Decision)


@reads_tournament
def duels(t: LocalTournament, query: dict[str, Any]) -> out.DuelPage:
    """All duels, newest first, or the duel of one query."""
    limit, names = query["limit"], t.rankers
    if "query_id" in query:
        row = t.duel_of_query(query["query_id"])
        return out.DuelPage(duels=[] if row is None else [out.StoredDuel(**duel_fields(row, names))], next=None)
    rows = t.duels(limit=limit + 1, before=query.get("after"))
    shown = [out.StoredDuel(**duel_fields(row, names)) for row in rows[:limit]]
    return out.DuelPage(duels=shown, next=shown[-1].duel if len(rows) > limit else None)


@reads_tournament
def health(t: LocalTournament, query: dict[str, Any]) -> out.Health:
    """Counters of asks, tells and signals, and failures."""
    found = t.health()
    delays = {str(seconds): count for seconds, count in found.delays.items()}
    return _from(found, out.Health, duels=counts_out(found.counts), delays=delays)


@reads_tournament
def journal(t: LocalTournament, query: dict[str, Any]) -> out.JournalPage:
    """All outcomes and all changes by operators, oldest first."""
    after, limit = query["after"], query["limit"]
    found = list(islice(t.journal(since=after), limit + 1))
    events = [event_out(event) for event in found[:limit]]
    return out.JournalPage(events=events, next=events[-1].number if len(found) > limit else None)


def _page(rows: Callable[[int, int], Sequence[T]], query: dict[str, Any]) -> tuple[Sequence[T], int | None]:
    """Return one page and the `after` of the next page. `rows` returns the rows from one index to another."""
    after, limit = query["after"], query["limit"]
    found = rows(after, after + limit + 1)
    return found[:limit], after + limit if len(found) > limit else None


def _from(value: object, kind: type[T], **more: Any) -> T:
    """Build a response from the attributes of a value with the same names, and from additional fields."""
    fields: tuple[str, ...] = kind.__struct_fields__  # type: ignore[attr-defined]
    return kind(**{name: getattr(value, name) for name in fields if name not in more}, **more)


def counts_out(counts: Counts) -> out.Counts:
    """Return counts of duels as a response."""
    return _from(counts, out.Counts)


def event_out(event: Event) -> out.Event:
    """Return an event of the journal as a response, without secrets."""
    return _from(event, out.Event, body=_public_fields(event.body))


def duel_fields(row: DuelRow, rankers: list[str]) -> dict[str, Any]:
    """Return the fields of `response_schemas.StoredDuel`."""
    return {
        "duel": row.id,
        "query_id": row.query,
        "first": rankers[row.first],
        "second": rankers[row.second],
        "state": row.state,
        "outcome": row.outcome,
        "issued": row.issued,
        "expires": row.expires,
    }


def _summary_fields(t: LocalTournament) -> dict[str, Any]:
    decided = t.decision()
    return {
        "name": t.name,
        "status": t.status,
        "champion": decided.champion,
        "winner": decided.winner,
        "rankers": len(t.rankers),
        "rankers_left": len(decided.left),
        "duels": counts_out(_counts(t)),
    }


def _counts(t: LocalTournament) -> Counts:
    """Return the current counts, or the last durable counts if the storage fails."""
    try:
        return t.counts
    except StorageError:
        return t.durable_counts


def tournament_out(t: LocalTournament) -> out.Tournament:
    """Return a tournament with its settings as a response."""
    rollout = None if t.rollout is None else out.Rollout(*t.rollout)
    return out.Tournament(
        **_summary_fields(t),
        rollout=rollout,
        users_see=t.users_see,
        effects=t.effects(),
        settings=public_settings(t.settings),
    )


def public_settings(settings: Settings) -> dict[str, Any]:
    """Return settings without secrets and rankers. The list of rankers has its own route, with rankers added later."""
    return {name: value for name, value in _public_fields(settings.to_dict()).items() if name != "rankers"}


def _public_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in _SECRET_FIELDS}


_RAIL = Guardrail("error", bound=0.02)  # with the default window and minimum
_DEFAULTS = out.Defaults(
    **DEFAULTS,
    guardrail_window=_RAIL.window,
    guardrail_minimum=_RAIL.minimum,
    rollout_share=DEFAULT_ROLLOUT_SHARE,
)
_TOURNAMENT = "/v1/tournaments/{name}"
_LIMIT = Parameter("limit", "Maximum number of rows.", default=100, minimum=1, maximum=1000)
_NEXT = "The `next` of the previous page."
_AFTER = Parameter("after", _NEXT, default=0, minimum=0, maximum=2**48)
_AFTER_NAME = Parameter("after", _NEXT)
_ARCHIVED = Parameter("archived", "`true`: with archived tournaments.", maximum=5, pattern="^(true|false)$")
_AFTER_DUEL = Parameter("after", _NEXT, maximum=19, pattern="^[0-9]+-[0-9]+$")
_QUERY_ID = Parameter("query_id", "Return only the duel of this query.", maximum=MAX_NAME_CHARACTERS)
PAGINATION = (_LIMIT, _AFTER)
UNKNOWN = ("unknown-tournament",)


def _read(path: str, handler: Callable[[Request], Awaitable[Response]], response: Any, *parameters: Parameter) -> Route:
    return Route("GET", _TOURNAMENT + path, "read", handler, response, problems=UNKNOWN, parameters=parameters)


ROUTES = (
    Route(
        "GET",
        "/v1/tournaments",
        "read",
        list_tournaments,
        out.TournamentPage,
        parameters=(_LIMIT, _AFTER_NAME, _ARCHIVED),
    ),
    Route("GET", "/v1/defaults", "read", defaults, out.Defaults),
    _read("", show_tournament, out.Tournament),
    _read("/rankers", rankers, out.RankerPage, *PAGINATION),
    _read("/leaderboard", leaderboard, out.LeaderboardPage, *PAGINATION),
    _read("/timeline", timeline, out.TimelinePage, *PAGINATION),
    _read("/preferences", preferences, out.PairPage, *PAGINATION),
    _read("/decision", decision, out.Decision),
    _read("/duels", duels, out.DuelPage, _LIMIT, _AFTER_DUEL, _QUERY_ID),
    _read("/health", health, out.Health),
    _read("/journal", journal, out.JournalPage, *PAGINATION),
)
