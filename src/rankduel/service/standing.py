"""The calls that look: tournaments, where they stand, and what happened. Long answers come in pages."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from rankduel.errors import StorageError
from rankduel.live import Counts, DuelRow, Tournament
from rankduel.service.bodies import (
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
from rankduel.service.calls import Call, Parameter, Request

__all__ = ["CALLS", "counts_out", "duel_out", "open_body", "whole"]

_SECRET = ("salt", "seed")  # they would let others guess clients and pages
T = TypeVar("T")


async def list_tournaments(request: Request) -> Tournaments:
    """All tournaments, by name."""
    service, limit, after = request.service, request.query["limit"], request.query.get("after", "")
    names = [name for name in await service.off(service.house.names) if name > after]
    page = [await service.off(_summary, await service.tournament(name)) for name in names[:limit]]
    return Tournaments(tournaments=page, next=page[-1].name if len(names) > limit else None)


async def show_tournament(request: Request) -> TournamentOut:
    """One tournament: its state, champion, rankers left, duels and settings."""
    return await _look(request, whole)


async def rankers(request: Request) -> RankersOut:
    """All rankers that ever took part, in the order in which they came."""
    return await _look(request, _rankers)


async def leaderboard(request: Request) -> Leaderboard:
    """All rankers, the best guess first."""
    return await _look(request, _leaderboard)


async def timeline(request: Request) -> Timeline:
    """The rankers that are out, in the order in which they went."""
    return await _look(request, _timeline)


async def preferences(request: Request) -> Preferences:
    """How often each two rankers have met, and who won."""
    return await _look(request, _preferences)


async def decision(request: Request) -> DecisionOut:
    """The winner, or the rankers that are tied, or where it stands; and what is guaranteed."""
    return await _look(request, _decision)


async def duels(request: Request) -> KnownDuels:
    """The duels, newest first."""
    return await _look(request, _duels)


async def health(request: Request) -> HealthOut:
    """Whether the tournament is well."""
    return await _look(request, _health)


async def journal(request: Request) -> JournalPage:
    """What was learnt and what operators did, oldest first."""
    return await _look(request, _journal)


async def _look(request: Request, look: Callable[[Tournament, dict[str, Any]], T]) -> T:
    t = await request.service.tournament(request.path["name"])
    return await request.service.off(look, t, request.query)


def _page(lines: Iterable[T], query: dict[str, Any]) -> tuple[list[T], int | None]:
    """Some lines of many, and the `after` of the next page."""
    after, limit = query["after"], query["limit"]
    page = list(islice(lines, after, after + limit + 1))
    return page[:limit], after + limit if len(page) > limit else None


def counts_out(counts: Counts) -> CountsOut:
    """The counts as clients see them."""
    return CountsOut(
        issued=counts.issued,
        shown=counts.shown,
        resolved=counts.told,
        no_signal=counts.no_signal,
        expired=counts.expired,
        late=counts.late,
        void=counts.void,
        in_flight=counts.in_flight,
    )


def _summary_fields(t: Tournament) -> dict[str, Any]:
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


def _newest(t: Tournament) -> Counts:
    """All that was counted; if the storage has failed, all that it has."""
    try:
        return t.counts
    except StorageError:
        return t.health().counts


def _summary(t: Tournament) -> Summary:
    return Summary(**_summary_fields(t))


def whole(t: Tournament, query: dict[str, Any] | None = None) -> TournamentOut:
    """A tournament with its settings."""
    settings = open_body(t.settings.to_dict())
    del settings["rankers"]  # those at the beginning; the leaderboard has those of now
    return TournamentOut(**_summary_fields(t), settings=settings)


def _rankers(t: Tournament, query: dict[str, Any]) -> RankersOut:
    lines, next = _page(t.rankers, query)
    return RankersOut(rankers=[RankerOut(ranker=ranker) for ranker in lines], next=next)


def _leaderboard(t: Tournament, query: dict[str, Any]) -> Leaderboard:
    lines, next = _page(t.leaderboard(), query)
    standings = [
        StandingOut(line.ranker, line.state, wins=line.wins, losses=line.losses, ties=line.ties, rate=line.rate)
        for line in lines
    ]
    return Leaderboard(standings=standings, next=next)


def _timeline(t: Tournament, query: dict[str, Any]) -> Timeline:
    lines, next = _page(t.timeline(), query)
    gone = [Gone(ranker=one.ranker, told=one.told, by=one.by, evidence=one.evidence, left=one.left) for one in lines]
    return Timeline(departures=gone, next=next)


def _preferences(t: Tournament, query: dict[str, Any]) -> Preferences:
    lines, next = _page(t.preferences(), query)
    pairs = [Pair(first=met.first, second=met.second, wins=met.wins, losses=met.losses, ties=met.ties) for met in lines]
    return Preferences(pairs=pairs, next=next)


def _decision(t: Tournament, query: dict[str, Any]) -> DecisionOut:
    decided = t.decision()
    return DecisionOut(
        winner=decided.winner,
        tied=list(decided.tied),
        champion=decided.champion,
        left=list(decided.left),
        eliminated=list(decided.eliminated),
        delta=decided.delta,
        tolerance=decided.tolerance,
        text=str(decided),
    )


def _duels(t: Tournament, query: dict[str, Any]) -> KnownDuels:
    limit = query["limit"]
    rows = t.duels(limit=limit + 1, before=query.get("after"))
    rankers = t.rankers
    page = [duel_out(row, rankers) for row in rows[:limit]]
    return KnownDuels(duels=page, next=page[-1].duel if len(rows) > limit else None)


def duel_out(row: DuelRow, rankers: list[str]) -> KnownDuel:
    """A duel as clients see it."""
    return KnownDuel(
        duel=row.id,
        query_id=row.query,
        first=rankers[row.first],
        second=rankers[row.second],
        state=row.state,
        outcome=row.outcome,
        issued=row.issued,
        expires=row.expires,
    )


def _health(t: Tournament, query: dict[str, Any]) -> HealthOut:
    well = t.health()
    return HealthOut(
        duels=counts_out(well.counts),
        joined=well.joined,
        served=well.served,
        told_again=well.told_again,
        conflicts=well.conflicts,
        unknown=well.unknown,
        signals=well.signals,
        signals_again=well.signals_again,
        orphans=well.orphans,
        late_signals=well.late_signals,
        outcomes=well.outcomes,
        delays={str(seconds): count for seconds, count in well.delays.items()},
        failure=well.failure,
    )


def _journal(t: Tournament, query: dict[str, Any]) -> JournalPage:
    after, limit = query["after"], query["limit"]
    page = list(islice(t.journal(since=after), limit + 1))
    events = [
        EventOut(number=one.number, time=one.time, kind=one.kind, body=open_body(one.body)) for one in page[:limit]
    ]
    return JournalPage(events=events, next=events[-1].number if len(page) > limit else None)


def open_body(body: dict[str, Any]) -> dict[str, Any]:
    """Without what nobody should know."""
    return {name: value for name, value in body.items() if name not in _SECRET}


_AT = "/v1/tournaments/{name}"
_LIMIT = Parameter("limit", "Lines of a page.", default=100, least=1, most=1000)
_AFTER = Parameter("after", "The `next` of the page before.", default=0, least=0, most=2**48)
_AFTER_TEXT = Parameter("after", "The `next` of the page before.")
_LINES = (_LIMIT, _AFTER)
_NONE = ("unknown-tournament",)
CALLS = (
    Call("GET", "/v1/tournaments", "read", list_tournaments, Tournaments, parameters=(_LIMIT, _AFTER_TEXT)),
    Call("GET", _AT, "read", show_tournament, TournamentOut, problems=_NONE),
    Call("GET", _AT + "/rankers", "read", rankers, RankersOut, problems=_NONE, parameters=_LINES),
    Call("GET", _AT + "/leaderboard", "read", leaderboard, Leaderboard, problems=_NONE, parameters=_LINES),
    Call("GET", _AT + "/timeline", "read", timeline, Timeline, problems=_NONE, parameters=_LINES),
    Call("GET", _AT + "/preferences", "read", preferences, Preferences, problems=_NONE, parameters=_LINES),
    Call("GET", _AT + "/decision", "read", decision, DecisionOut, problems=_NONE),
    Call("GET", _AT + "/duels", "read", duels, KnownDuels, problems=_NONE, parameters=(_LIMIT, _AFTER_TEXT)),
    Call("GET", _AT + "/health", "read", health, HealthOut, problems=_NONE),
    Call("GET", _AT + "/journal", "read", journal, JournalPage, problems=_NONE, parameters=_LINES),
)
