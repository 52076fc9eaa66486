"""Route declarations: method, path, scope, handler and schemas, for the router and the OpenAPI document."""

from collections.abc import Awaitable, Callable, Mapping
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
    """A request as handlers get it: authenticated, decoded and validated."""

    service: Service
    key: Key
    path: dict[str, str]  # values of {name} in the path
    query: dict[str, Any]  # parameters of the query string
    body: Any
    secure: bool = False  # whether a trusted proxy received it over TLS
    rate_limits: RateLimits | None = None
    client: str = ""  # the client that rate limits count
    headers: Mapping[bytes, bytes] = field(default_factory=dict)

    def charge(self, items: int) -> None:
        """Count the request as `items` requests. Raise a Problem if this exceeds the rate limit."""
        if self.rate_limits is not None:
            self.rate_limits.charge(self.client, items)

    @property
    def by(self) -> str:
        """The name of the key, for the journal."""
        return self.key.name


@dataclass(frozen=True, slots=True)
class Route:
    """A route. `scope` is the scope that the API key needs. None: no key is needed."""

    method: str
    path: str
    scope: str | None
    handler: Callable[[Request], Awaitable[Any]]
    response: Any  # a type, or a tuple of types; str means plain text
    body: Any = None  # a type, or None
    status: int = 200
    problems: tuple[str, ...] = ()  # names of problems, in addition to the common ones
    parameters: tuple[Parameter, ...] = field(default=())
    media_types: tuple[str, ...] = ("application/json",)  # of the body; all but the first: one JSON value per line
    body_optional: bool = False
    any_query: bool = False  # whether unknown query parameters are accepted, as on pages for browsers

    @property
    def name(self) -> str:
        """The operation id in the OpenAPI document."""
        return self.handler.__name__

    @property
    def responses(self) -> tuple[Any, ...]:
        """The possible types of a response."""
        return self.response if isinstance(self.response, tuple) else (self.response,)

    @property
    def summary(self) -> str:
        """The summary in the OpenAPI document: the first line of the handler's docstring."""
        return (self.handler.__doc__ or "").partition("\n")[0]


def sent_fields(body: Any, *leave_out: str) -> dict[str, Any]:
    """Return the fields that the client sent in a body."""
    return {
        name: value
        for name in body.__struct_fields__
        if name not in leave_out and not isinstance(value := getattr(body, name), UnsetType)
    }


Reader = Callable[[LocalTournament, dict[str, Any]], Any]
Handler = Callable[[Request], Awaitable[Response]]


def reads_tournament(reader: Reader) -> Handler:
    """Make a handler that reads one tournament in the read pool. `reader` gets the tournament and the parameters."""
    return _read_handler(reader, lambda service: service.reads)


def reads_tournament_slowly(reader: Reader) -> Handler:
    """Make a handler for slow reads, in a separate pool so that other reads do not wait."""
    return _read_handler(reader, lambda service: service.replays)


def reads_tournament_cached(reader: Reader) -> Handler:
    """Make a handler for reads that depend only on the journal. The response is cached until an event is appended.

    The salt tells a tournament from a deleted one with the same name.
    """
    return _read_handler(reader, lambda service: service.reads, lambda t: (t.settings.salt, t.number))


def _read_handler(
    reader: Reader, pool: Callable[[Service], ReadPool], version: Callable[[LocalTournament], object] | None = None
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
