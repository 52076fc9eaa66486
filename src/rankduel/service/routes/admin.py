"""Admin routes: create a tournament, and change it while it runs. The journal records each change."""

from collections.abc import Awaitable, Callable
from typing import Any

from rankduel.live import LocalTournament
from rankduel.live.rules.validation import check_name, some_of
from rankduel.live.settings import DIALS
from rankduel.service.http import response_schemas as out
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.request_schemas import (
    AddRankers,
    ChangeSettings,
    CreateTournament,
    EraseClient,
    Reason,
    RollOut,
)
from rankduel.service.http.routing import Request, Route, sent_fields
from rankduel.service.problems import Problem
from rankduel.service.routes.read import tournament_out

__all__ = ["ROUTES"]


async def create(request: Request) -> out.Tournament:
    """Create a tournament. Repeating the request returns the same tournament."""
    body: CreateTournament = request.body
    settings = sent_fields(body, "name", "parameters", "bandit") | {"bandit": _bandit(body), "by": request.by}
    try:
        t = await request.service.in_thread(request.service.open_tournaments.create, body.name, settings)
    except TypeError as error:  # for a value inside attribution, guardrails or parameters
        raise Problem("bad-value", str(error)[:1000]) from None
    return await request.service.in_thread(tournament_out, t)


def _bandit(body: CreateTournament) -> str | None:
    """Return the spec of the bandit. It must be registered: no client may name a module to import."""
    spec = body.bandit
    if spec is not None and ":" in spec.partition("(")[0]:
        detail = f"unknown bandit {spec[:200]!r}; over HTTP, only registered bandits are allowed, not module:Class"
        raise Problem("bad-value", detail, value=spec[:200])
    if body.parameters:
        if spec is None or "(" in spec:
            raise Problem(
                "bad-value", "with `parameters`, `bandit` must be the name of a bandit, without options", value=spec
            )
        spec += f"({', '.join(f'{_option_name(name)}={_literal(value)}' for name, value in body.parameters.items())})"
    return spec


def _option_name(name: str) -> str:
    if not name.isidentifier():
        detail = f"the name of an option must be an identifier, got {name[:200]!r}"
        raise Problem("bad-value", detail, value=name[:200], at="$.parameters")
    return name


def _literal(value: Any) -> str:
    if value is not None and not isinstance(value, int | float | str):
        raise Problem("bad-value", "the value of an option must be a number, a string or null", at="$.parameters")
    return repr(value)


async def configure(request: Request) -> out.Tournament:
    """Change the traffic share, caps and other settings of a running tournament."""
    changes = sent_fields(request.body, "reason")
    if not changes:
        raise Problem("bad-value", f"no setting to change; send at least one of {', '.join(DIALS)}")
    return await _operate(request, "configure", **changes)


async def start(request: Request) -> out.Tournament:
    """Start a draft, or a paused tournament again."""
    return await _operate(request, "start")


async def pause(request: Request) -> out.Tournament:
    """Pause a tournament. Users see the baseline until you start it again."""
    return await _operate(request, "pause")


async def stop(request: Request) -> out.Tournament:
    """Stop a tournament. You cannot start it again. All users see the baseline, also after a decision."""
    return await _operate(request, "stop")


async def roll_out(request: Request) -> out.Tournament:
    """Roll out a ranker after the decision, to a share of all traffic. Send it again to change the share."""
    body: RollOut = request.body
    if body.ranker is not None:
        check_name("ranker", body.ranker)
    return await _operate(request, "roll_out", body.share, body.ranker)


async def roll_back(request: Request) -> out.Tournament:
    """Roll back. All users see the baseline."""
    return await _operate(request, "roll_back")


async def archive(request: Request) -> out.Tournament:
    """Archive a tournament. You cannot start it again, and lists omit it. All users see the baseline."""
    return await _operate(request, "archive")


async def delete(request: Request) -> out.Deleted:
    """Delete a draft, or a stopped or archived tournament, with all its data. Repeat its name as `confirm`."""
    name, confirm = request.path["name"], request.query.get("confirm", "")
    if confirm != name:
        raise Problem("bad-value", f"to delete tournament {name!r}, send its name as `confirm`", value=confirm)
    t = await request.service.tournament(name)
    if (refusal := t.refusal("delete")) is not None:
        raise Problem("wrong-state", f"tournament {name!r} {refusal}")
    await request.service.in_thread(request.service.open_tournaments.delete, name)
    return out.Deleted(name)


async def add_rankers(request: Request) -> out.Tournament:
    """Add rankers to a tournament."""
    return await _operate(request, "add_rankers", request.body.rankers)


async def retire_ranker(request: Request) -> out.Tournament:
    """Retire a ranker. You cannot start it again."""
    return await _operate_ranker(request, "retire")


async def pause_ranker(request: Request) -> out.Tournament:
    """Pause a ranker until you start it again."""
    return await _operate_ranker(request, "pause_ranker")


async def start_ranker(request: Request) -> out.Tournament:
    """Start a paused ranker again."""
    return await _operate_ranker(request, "start_ranker")


async def void(request: Request) -> out.Tournament:
    """Void a duel. The bandit does not learn from its outcome."""
    return await _operate(request, "void", request.path["duel"])


async def erase_client(request: Request) -> out.Erased:
    """Erase the data of a client: the hash of its id, and the pages, signals and query ids of its duels."""
    t = await request.service.tournament(request.path["name"])
    body = request.body
    return out.Erased(await request.service.in_thread(t.erase_client, body.client_id, body.reason, request.by))


async def _operate_ranker(request: Request, method: str) -> out.Tournament:
    t, ranker = await request.service.tournament(request.path["name"]), request.path["ranker"]
    if ranker not in t.rankers:
        known = some_of(t.rankers)
        detail = f"unknown ranker {ranker[:200]!r} in tournament {t.name!r}; known rankers: {known}"
        raise Problem("unknown-ranker", detail[:1000], value=ranker[:200])
    return await _operate(request, method, ranker)


async def _operate(request: Request, method: str, *values: Any, **changes: Any) -> out.Tournament:
    """Call a method of a tournament with the reason and the name of the API key."""
    t = await request.service.tournament(request.path["name"])
    changes |= {"reason": request.body.reason, "by": request.by}
    return await request.service.in_thread(_change, t, method, values, changes)


def _change(t: LocalTournament, method: str, values: tuple[Any, ...], changes: dict[str, Any]) -> out.Tournament:
    try:
        getattr(t, method)(*values, **changes)
    except (ValueError, TypeError) as error:
        bad_value = method in ("configure", "add_rankers", "roll_out") and t.refusal(method) is None
        raise Problem("bad-value" if bad_value else "wrong-state", str(error)) from None
    return tournament_out(t)


_TOURNAMENT = "/v1/tournaments/{name}"
_STATE = ("unknown-tournament", "wrong-state")
_CONFIRM = Parameter("confirm", "The name of the tournament, again.")


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
    Route("POST", _TOURNAMENT + ":roll-out", "admin", roll_out, out.Tournament, RollOut, problems=_STATE),
    _verb(":roll-back", roll_back),
    _verb(":archive", archive),
    Route("DELETE", _TOURNAMENT, "admin", delete, out.Deleted, problems=_STATE, parameters=(_CONFIRM,)),
    _verb("/rankers/{ranker}:retire", retire_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:pause", pause_ranker, "unknown-ranker"),
    _verb("/rankers/{ranker}:start", start_ranker, "unknown-ranker"),
    _verb("/duels/{duel}:void", void, "unknown-duel"),
    Route(
        "POST",
        _TOURNAMENT + ":erase-client",
        "admin",
        erase_client,
        out.Erased,
        EraseClient,
        problems=("unknown-tournament",),
    ),
)
