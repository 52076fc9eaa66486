"""Routes of operators: create a tournament, and change it while it runs. The journal records each change."""

from collections.abc import Awaitable, Callable
from typing import Any

from rankduel.live import LocalTournament
from rankduel.service.http import response_schemas as out
from rankduel.service.http.request_schemas import AddRankers, ChangeSettings, CreateTournament, Reason
from rankduel.service.http.routing import Request, Route, sent_fields
from rankduel.service.problems import Problem
from rankduel.service.routes.read import tournament_out

__all__ = ["ROUTES"]


async def create(request: Request) -> out.Tournament:
    """Create a tournament; the same body again gets the same response."""
    body: CreateTournament = request.body
    settings = sent_fields(body, "name", "parameters", "bandit") | {"bandit": _bandit(body)}
    try:
        t = await request.service.in_thread(request.service.open_tournaments.create, body.name, settings)
    except TypeError as error:  # of a value inside attribution, guardrails or parameters
        raise Problem("bad-value", str(error)[:1000]) from None
    return await request.service.in_thread(tournament_out, t)


def _bandit(body: CreateTournament) -> str | None:
    """Return the bandit with its options as text. It must be registered: no client may name a module to import."""
    spec = body.bandit
    if spec is not None and ":" in spec.partition("(")[0]:
        detail = "over HTTP only registered bandits are accepted, not module:Class"
        raise Problem("bad-value", detail, value=spec[:200])
    if body.parameters:
        if spec is None or "(" in spec:
            raise Problem(
                "bad-value", "parameters need the name of a bandit without options in parentheses", value=spec
            )
        spec += f"({', '.join(f'{_option_name(name)}={_literal(value)}' for name, value in body.parameters.items())})"
    return spec


def _option_name(name: str) -> str:
    if not name.isidentifier():
        raise Problem("bad-value", "the name of an option must be an identifier", value=name[:200], at="$.parameters")
    return name


def _literal(value: Any) -> str:
    if value is not None and not isinstance(value, int | float | str):
        raise Problem("bad-value", "the value of an option must be a number, a string or null", at="$.parameters")
    return repr(value)


async def configure(request: Request) -> out.Tournament:
    """Change the traffic share, caps and other settings while the tournament runs."""
    changes = sent_fields(request.body, "reason")
    if not changes:
        raise Problem("bad-value", "expected at least one setting to change", value=request.body.reason)
    return await _operate(request, "configure", **changes)


async def start(request: Request) -> out.Tournament:
    """Issue duels again after a pause."""
    return await _operate(request, "start")


async def pause(request: Request) -> out.Tournament:
    """Issue no more duels until the tournament is started again; users see the baseline."""
    return await _operate(request, "pause")


async def stop(request: Request) -> out.Tournament:
    """End the tournament for good."""
    return await _operate(request, "stop")


async def add_rankers(request: Request) -> out.Tournament:
    """Add rankers to the tournament."""
    return await _operate(request, "add_rankers", request.body.rankers)


async def retire_ranker(request: Request) -> out.Tournament:
    """Retire a ranker for good."""
    return await _operate_ranker(request, "retire")


async def pause_ranker(request: Request) -> out.Tournament:
    """Pause a ranker until it is started again."""
    return await _operate_ranker(request, "pause_ranker")


async def start_ranker(request: Request) -> out.Tournament:
    """Start a ranker again after a pause."""
    return await _operate_ranker(request, "start_ranker")


async def void(request: Request) -> out.Tournament:
    """Declare a duel void: its outcome will not be learnt."""
    return await _operate(request, "void", request.path["duel"])


async def _operate_ranker(request: Request, method: str) -> out.Tournament:
    t, ranker = await request.service.tournament(request.path["name"]), request.path["ranker"]
    if ranker not in t.rankers:
        raise Problem("unknown-ranker", f"tournament {t.name!r} has no such ranker", value=ranker[:200])
    return await _operate(request, method, ranker)


async def _operate(request: Request, method: str, *values: Any, **changes: Any) -> out.Tournament:
    """Call a method of the tournament, with the reason and the name of the key."""
    t = await request.service.tournament(request.path["name"])
    changes |= {"reason": request.body.reason, "by": request.by}
    return await request.service.in_thread(_change, t, method, values, changes)


def _change(t: LocalTournament, method: str, values: tuple[Any, ...], changes: dict[str, Any]) -> out.Tournament:
    try:
        getattr(t, method)(*values, **changes)
    except (ValueError, TypeError) as error:
        bad_value = method in ("configure", "add_rankers") and t.status != "stopped"
        raise Problem("bad-value" if bad_value else "wrong-state", str(error)) from None
    return tournament_out(t)


_TOURNAMENT = "/v1/tournaments/{name}"
_STATE = ("unknown-tournament", "wrong-state")


def _verb(path: str, handler: Callable[[Request], Awaitable[out.Tournament]], *problems: str) -> Route:
    return Route(
        "POST",
        _TOURNAMENT + path,
        "admin",
        handler,
        out.Tournament,
        Reason,
        body_optional=True,
        problems=(*_STATE, *problems),
    )


ROUTES = (
    Route("POST", "/v1/tournaments", "admin", create, out.Tournament, CreateTournament, 201, ("tournament-exists",)),
    Route("PATCH", _TOURNAMENT, "admin", configure, out.Tournament, ChangeSettings, problems=_STATE),
    Route("POST", _TOURNAMENT + "/rankers", "admin", add_rankers, out.Tournament, AddRankers, problems=_STATE),
    _verb(":start", start),
    _verb(":pause", pause),
    _verb(":stop", stop),
    _verb("/rankers/{ranker}:retire", retire_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:pause", pause_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:start", start_ranker, "unknown-ranker"),
    _verb("/duels/{duel}:void", void, "unknown-duel"),
)
