"""The calls that look: tournaments, where they stand, and what happened. Long answers come in pages."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from rankduel.errors import StorageError
from rankduel.live import Counts, DuelRow, Event, LocalTournament, standings
from rankduel.live.settings import Settings
from rankduel.service.http.routing import (
    Call,
    Parameter,
    Plain,
    Request,
    encode,
    plain_json,
    reads_tournament,
    reads_tournament_cached,
)
from rankduel.service.http.schemas import (
    Broken,
    CountsOut,
    DecisionOut,
    EventOut,
    Gone,
    HealthOut,
    JournalPage,
    KnownDuel,
    KnownDuels,
    Leaderboard,
    Pair,
    Preferences,
    RankerOut,
    RankersOut,
    StandingOut,
    Summary,
    Timeline,
    TournamentOut,
    Tournaments,
)
from rankduel.service.service import Service

__all__ = ["CALLS", "LINES", "NONE", "broken_among", "counts_out", "duel_fields", "event_out", "open_settings", "whole"]

_SECRET = ("salt", "seed")  # they would let others guess clients and pages
T = TypeVar("T")


async def list_tournaments(request: Request) -> Plain:
    """All tournaments, by name."""
    service, limit, after = request.service, request.query["limit"], request.query.get("after", "")
    names = [name for name in await service.names() if name > after]
    page = await service.open_among(names[:limit])
    broken = broken_among(service, names[:limit])
    next = names[limit - 1] if len(names) > limit else None
    key = "tournaments", next, *(t.name for t in page), *(one.name for one in broken)
    return plain_json(await service.reads.answer(key, partial(_summaries, page, broken, next)))


def _summaries(page: list[LocalTournament], broken: list[Broken], next: str | None) -> bytes:
    return encode(Tournaments(tournaments=[_summary(t) for t in page], broken=broken, next=next))


def broken_among(service: Service, names: Iterable[str]) -> list[Broken]:
    """Those of these tournaments that cannot be opened, and why."""
    return [
        Broken(name, service.open_tournaments.broken[name]) for name in names if name in service.open_tournaments.broken
    ]


@reads_tournament
def show_tournament(t: LocalTournament, query: dict[str, Any]) -> TournamentOut:
    """One tournament: its state, champion, rankers left, duels and settings."""
    return whole(t)


@reads_tournament_cached
def rankers(t: LocalTournament, query: dict[str, Any]) -> RankersOut:
    """All rankers that ever took part, in the order in which they came."""
    lines, next = _page(lambda start, stop: t.view().names[start:stop], query)
    return RankersOut(rankers=[RankerOut(ranker) for ranker in lines], next=next)


@reads_tournament_cached
def leaderboard(t: LocalTournament, query: dict[str, Any]) -> Leaderboard:
    """All rankers, the best guess first."""
    lines, next = _page(partial(standings.leaderboard, t.view()), query)
    return Leaderboard(standings=[_out(StandingOut, line) for line in lines], next=next)


@reads_tournament_cached
def timeline(t: LocalTournament, query: dict[str, Any]) -> Timeline:
    """The rankers that are out, in the order in which they went."""
    lines, next = _page(partial(standings.timeline, t.view()), query)
    return Timeline(departures=[_out(Gone, line) for line in lines], next=next)


@reads_tournament_cached
def preferences(t: LocalTournament, query: dict[str, Any]) -> Preferences:
    """How often each two rankers have met, and who won."""
    lines, next = _page(partial(standings.preferences, t.view()), query)
    return Preferences(pairs=[_out(Pair, line) for line in lines], next=next)


@reads_tournament_cached
def decision(t: LocalTournament, query: dict[str, Any]) -> DecisionOut:
    """The winner, or the rankers that are tied, or where it stands; and what is guaranteed."""
    decided = t.decision()
    return _out(DecisionOut, decided, text=str(decided))


@reads_tournament
def duels(t: LocalTournament, query: dict[str, Any]) -> KnownDuels:
    """The duels, newest first."""
    limit = query["limit"]
    rows = t.duels(limit=limit + 1, before=query.get("after"))
    names = t.rankers
    page = [KnownDuel(**duel_fields(row, names)) for row in rows[:limit]]
    return KnownDuels(duels=page, next=page[-1].duel if len(rows) > limit else None)


@reads_tournament
def health(t: LocalTournament, query: dict[str, Any]) -> HealthOut:
    """Whether the tournament is well."""
    well = t.health()
    delays = {str(seconds): count for seconds, count in well.delays.items()}
    return _out(HealthOut, well, duels=counts_out(well.counts), delays=delays)


@reads_tournament
def journal(t: LocalTournament, query: dict[str, Any]) -> JournalPage:
    """What was learnt and what operators did, oldest first."""
    after, limit = query["after"], query["limit"]
    page = list(islice(t.journal(since=after), limit + 1))
    events = [event_out(event) for event in page[:limit]]
    return JournalPage(events=events, next=events[-1].number if len(page) > limit else None)


def _page(part: Callable[[int, int], Sequence[T]], query: dict[str, Any]) -> tuple[Sequence[T], int | None]:
    """Some lines of many, and the `after` of the next page. `part` gives the lines from a place to another."""
    after, limit = query["after"], query["limit"]
    page = part(after, after + limit + 1)
    return page[:limit], after + limit if len(page) > limit else None


def _out(kind: type[T], value: object, **more: Any) -> T:
    """A value as clients see it: the fields of the body by their names, but for those that are given."""
    fields: tuple[str, ...] = kind.__struct_fields__  # type: ignore[attr-defined]
    return kind(**{name: getattr(value, name) for name in fields if name not in more}, **more)


def counts_out(counts: Counts) -> CountsOut:
    """The counts as clients see them."""
    return _out(CountsOut, counts, resolved=counts.told)


def event_out(event: Event) -> EventOut:
    """An event as clients see it."""
    return _out(EventOut, event, body=open_body(event.body))


def duel_fields(row: DuelRow, rankers: list[str]) -> dict[str, Any]:
    """A duel as clients see it, by the names of fields."""
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
        "duels": counts_out(_newest(t)),
    }


def _newest(t: LocalTournament) -> Counts:
    """All that was counted; if the storage has failed, all that it has."""
    try:
        return t.counts
    except StorageError:
        return t.health().counts


def _summary(t: LocalTournament) -> Summary:
    return Summary(**_summary_fields(t))


def whole(t: LocalTournament) -> TournamentOut:
    """A tournament with its settings."""
    return TournamentOut(**_summary_fields(t), settings=open_settings(t.settings))


def open_settings(settings: Settings) -> dict[str, Any]:
    """The settings as clients see them, without the rankers: those are of the beginning, the leaderboard has all."""
    return {name: value for name, value in open_body(settings.to_dict()).items() if name != "rankers"}


def open_body(body: dict[str, Any]) -> dict[str, Any]:
    """Without what nobody should know."""
    return {name: value for name, value in body.items() if name not in _SECRET}


_AT = "/v1/tournaments/{name}"
_LIMIT = Parameter("limit", "Lines of a page.", default=100, least=1, most=1000)
_AFTER = Parameter("after", "The `next` of the page before.", default=0, least=0, most=2**48)
_AFTER_NAME = Parameter("after", "The `next` of the page before.")
_AFTER_DUEL = Parameter("after", "The `next` of the page before.", most=19, pattern="^[0-9]+-[0-9]+$")
LINES = (_LIMIT, _AFTER)
NONE = ("unknown-tournament",)
CALLS = (
    Call("GET", "/v1/tournaments", "read", list_tournaments, Tournaments, parameters=(_LIMIT, _AFTER_NAME)),
    Call("GET", _AT, "read", show_tournament, TournamentOut, problems=NONE),
    Call("GET", _AT + "/rankers", "read", rankers, RankersOut, problems=NONE, parameters=LINES),
    Call("GET", _AT + "/leaderboard", "read", leaderboard, Leaderboard, problems=NONE, parameters=LINES),
    Call("GET", _AT + "/timeline", "read", timeline, Timeline, problems=NONE, parameters=LINES),
    Call("GET", _AT + "/preferences", "read", preferences, Preferences, problems=NONE, parameters=LINES),
    Call("GET", _AT + "/decision", "read", decision, DecisionOut, problems=NONE),
    Call("GET", _AT + "/duels", "read", duels, KnownDuels, problems=NONE, parameters=(_LIMIT, _AFTER_DUEL)),
    Call("GET", _AT + "/health", "read", health, HealthOut, problems=NONE),
    Call("GET", _AT + "/journal", "read", journal, JournalPage, problems=NONE, parameters=LINES),
)
