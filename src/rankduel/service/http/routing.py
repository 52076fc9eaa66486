"""Routes: method, path, scope, handler and schemas, declared once for the router and the OpenAPI document."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any

from msgspec import UnsetType
from msgspec.json import encode

from rankduel.live import LocalTournament
from rankduel.service.auth.keys import Key
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.rate_limits import RateLimits
from rankduel.service.http.responses import Response, json_response
from rankduel.service.read_pool import ReadPool
from rankduel.service.service import Service

__all__ = [
    "Request",
    "Route",
    "encode",
    "reads_tournament",
    "reads_tournament_cached",
    "reads_tournament_slowly",
    "sent_fields",
]


@dataclass(slots=True)
class Request:
    """One request as a handler sees it: authenticated, decoded and checked."""

    service: Service
    key: Key
    path: dict[str, str]  # values of {name} in the path
    query: dict[str, Any]  # parameters of the query string
    body: Any
    secure: bool = False  # whether it came by HTTPS, as a proxy says
    rate_limits: RateLimits | None = None
    client: str = ""  # whom the rate limits count it for

    def charge(self, items: int) -> None:
        """Count a request as `items` requests towards its rate limit; raise a Problem if that is too many."""
        if self.rate_limits is not None:
            self.rate_limits.charge(self.client, items)

    @property
    def by(self) -> str:
        """The name of the key, for the journal."""
        return self.key.name


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `scope` is the scope that a key needs; None: no key is needed."""

    method: str
    path: str
    scope: str | None
    handler: Callable[[Request], Awaitable[Any]]
    response: Any  # a type, or a tuple of several; str: plain text
    body: Any = None  # a type, or None
    status: int = 200
    problems: tuple[str, ...] = ()  # names of problems that only this route has
    parameters: tuple[Parameter, ...] = field(default=())
    media_types: tuple[str, ...] = ("application/json",)  # of the body
    body_optional: bool = False
    any_query: bool = False  # whether any query string is accepted, as on pages for people

    @property
    def name(self) -> str:
        """The operation id of the OpenAPI document."""
        return self.handler.__name__

    @property
    def responses(self) -> tuple[Any, ...]:
        """The types that a response may have."""
        return self.response if isinstance(self.response, tuple) else (self.response,)

    @property
    def summary(self) -> str:
        """One sentence: the first line of the handler's docstring."""
        return (self.handler.__doc__ or "").partition("\n")[0]


def sent_fields(body: Any, *leave_out: str) -> dict[str, Any]:
    """Return the fields of a body that the client has sent."""
    return {
        name: value
        for name in body.__struct_fields__
        if name not in leave_out and not isinstance(value := getattr(body, name), UnsetType)
    }


Reader = Callable[[LocalTournament, dict[str, Any]], Any]
Handler = Callable[[Request], Awaitable[Response]]


def reads_tournament(reader: Reader) -> Handler:
    """Make a handler that reads one tournament, in the read pool. `reader` gets the tournament and the parameters."""
    return _read_handler(reader, lambda service: service.reads)


def reads_tournament_slowly(reader: Reader) -> Handler:
    """Make a handler for reads that may take a second: other reads do not wait for it."""
    return _read_handler(reader, lambda service: service.replays)


def reads_tournament_cached(reader: Reader) -> Handler:
    """Make a handler for reads that depend on the journal only: cached until an event is appended."""
    return _read_handler(reader, lambda service: service.reads, lambda t: t.number)


def _read_handler(
    reader: Reader, pool: Callable[[Service], ReadPool], version: Callable[[LocalTournament], int] | None = None
) -> Handler:
    @wraps(reader)
    async def handler(request: Request) -> Response:
        t = await request.service.tournament(request.path["name"])
        parameters = request.path | request.query
        cache_key = reader.__name__, *sorted(parameters.items())
        current = None if version is None else partial(version, t)
        body = await pool(request.service).answer(cache_key, lambda: encode(reader(t, parameters)), current)
        return json_response(body)

    return handler
