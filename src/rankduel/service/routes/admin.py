"""The calls of an operator: begin a tournament, and change it while it runs. All of them are in the journal."""

from collections.abc import Awaitable, Callable
from typing import Any

from rankduel.live import LocalTournament
from rankduel.service.http.problems import Problem
from rankduel.service.http.routing import Call, Request, given
from rankduel.service.http.schemas import Change, Create, RankersIn, Reason, TournamentOut
from rankduel.service.routes.read import whole

__all__ = ["CALLS"]


async def create(request: Request) -> TournamentOut:
    """Begin a tournament; the same body again gets the same answer."""
    body: Create = request.body
    settings = given(body, "name", "parameters", "bandit")
    try:
        t = await request.service.in_thread(
            request.service.open_tournaments.create, body.name, settings | {"bandit": _bandit(body)}
        )
    except TypeError as error:  # of something inside attribution, guardrails or parameters
        raise Problem("bad-value", str(error)[:1000]) from None
    return await request.service.in_thread(whole, t)


def _bandit(body: Create) -> str | None:
    """The bandit as people type it. One of the registry: no client may name a module to import."""
    spec = body.bandit
    if spec is not None and ":" in spec.partition("(")[0]:
        raise Problem("bad-value", "bandits of your own are for tournaments in your own process", value=spec[:200])
    if body.parameters:
        if spec is None or "(" in spec:
            raise Problem("bad-value", "parameters need the name of a bandit without options", value=spec)
        spec += f"({', '.join(f'{_word(name)}={_literal(value)}' for name, value in body.parameters.items())})"
    return spec


def _word(name: str) -> str:
    if not name.isidentifier():
        raise Problem("bad-value", "the name of an option is a word", value=name[:200], at="$.parameters")
    return name


def _literal(value: Any) -> str:
    if value is not None and not isinstance(value, int | float | str):
        raise Problem("bad-value", "the value of an option is a number, a string or null", at="$.parameters")
    return repr(value)


async def configure(request: Request) -> TournamentOut:
    """Change the traffic share, the caps and other settings while the tournament runs."""
    changes = given(request.body, "reason")
    if not changes:
        raise Problem("bad-value", "expected a setting to change", value=request.body.reason)
    return await _operate(request, "configure", **changes)


async def start(request: Request) -> TournamentOut:
    """Hand out duels again after a pause."""
    return await _operate(request, "start")


async def pause(request: Request) -> TournamentOut:
    """Hand out no more duels until it is started again; users see the baseline."""
    return await _operate(request, "pause")


async def stop(request: Request) -> TournamentOut:
    """End it for good."""
    return await _operate(request, "stop")


async def add_rankers(request: Request) -> TournamentOut:
    """Let more rankers take part."""
    return await _operate(request, "add_rankers", request.body.rankers)


async def retire_ranker(request: Request) -> TournamentOut:
    """Take a ranker out for good."""
    return await _operate_ranker(request, "retire")


async def pause_ranker(request: Request) -> TournamentOut:
    """Let a ranker sit out until it is started again."""
    return await _operate_ranker(request, "pause_ranker")


async def start_ranker(request: Request) -> TournamentOut:
    """Let a ranker take part again after a pause."""
    return await _operate_ranker(request, "start_ranker")


async def void(request: Request) -> TournamentOut:
    """Declare a duel void: it will not be learnt."""
    return await _operate(request, "void", request.path["duel"])


async def _operate_ranker(request: Request, what: str) -> TournamentOut:
    t, ranker = await request.service.tournament(request.path["name"]), request.path["ranker"]
    if ranker not in t.rankers:
        raise Problem("unknown-ranker", f"{t.name!r} has no such ranker", value=ranker[:200])
    return await _operate(request, what, ranker)


async def _operate(request: Request, what: str, *values: Any, **changes: Any) -> TournamentOut:
    t = await request.service.tournament(request.path["name"])
    return await request.service.in_thread(
        _done, t, what, values, {**changes, "reason": request.body.reason}, request.by
    )


def _done(t: LocalTournament, what: str, values: tuple[Any, ...], told: dict[str, Any], by: str) -> TournamentOut:
    try:
        getattr(t, what)(*values, **told, by=by)
    except (ValueError, TypeError) as error:
        wrong_value = what in ("configure", "add_rankers") and t.status != "stopped"
        raise Problem("bad-value" if wrong_value else "wrong-state", str(error)) from None
    return whole(t)


_AT = "/v1/tournaments/{name}"
_STATE = ("unknown-tournament", "wrong-state")


def _verb(path: str, run: Callable[[Request], Awaitable[TournamentOut]], *problems: str) -> Call:
    return Call("POST", _AT + path, "admin", run, TournamentOut, Reason, optional=True, problems=(*_STATE, *problems))


CALLS = (
    Call("POST", "/v1/tournaments", "admin", create, TournamentOut, Create, 201, ("tournament-exists",)),
    Call("PATCH", _AT, "admin", configure, TournamentOut, Change, problems=_STATE),
    Call("POST", _AT + "/rankers", "admin", add_rankers, TournamentOut, RankersIn, problems=_STATE),
    _verb(":start", start),
    _verb(":pause", pause),
    _verb(":stop", stop),
    _verb("/rankers/{ranker}:retire", retire_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:pause", pause_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:start", start_ranker, "unknown-ranker"),
    _verb("/duels/{duel}:void", void, "unknown-duel"),
)
