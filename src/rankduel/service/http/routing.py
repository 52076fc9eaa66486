"""What a call is: where it is found, who may make it, what it takes and gives. Routes and OpenAPI are made of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType
from msgspec.json import encode

from rankduel.live import LocalTournament
from rankduel.service.auth.keys import Key
from rankduel.service.http.limits import Buckets
from rankduel.service.http.problems import too_many_requests

if TYPE_CHECKING:
    from rankduel.service.read_pool import ReadPool
    from rankduel.service.service import Service

__all__ = [
    "Call",
    "Parameter",
    "Plain",
    "Request",
    "Stream",
    "encode",
    "given",
    "reads_tournament",
    "reads_tournament_cached",
    "reads_tournament_slowly",
    "plain_json",
]


@dataclass(slots=True)
class Request:
    """One request, as a call sees it: read, checked, and known who sent it."""

    service: "Service"
    key: Key  # of whoever sent it
    path: dict[str, str]  # what stands for {name} in the path
    query: dict[str, Any]  # the parameters behind the ?, checked
    body: Any
    secure: bool = False  # whether it came by HTTPS, as a proxy says
    rates: Buckets | None = None  # the rate limit that it counts towards,
    counted_as: str = ""  # under this name

    def charge(self, items: int) -> None:
        """Count a request as so many towards its rate limit, or refuse it. It has been counted as one already.

        If it is refused, it is counted as well: reading so many items was work, however often they are sent.
        """
        if self.rates is not None and (wait := self.rates.charge(self.counted_as, items - 1)) > 0:
            raise too_many_requests(wait)

    @property
    def by(self) -> str:
        """The name of the key, for the journal."""
        return self.key.name


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer that is no JSON of ours: its text and type."""

    text: bytes
    media: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()  # beside those of every answer, or in their place


def plain_json(text: bytes) -> Plain:
    """An answer that is JSON already."""
    return Plain(text, b"application/json")


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that goes on until the client leaves or the server ends: then `stop` is set."""

    parts: Callable[[asyncio.Event], AsyncIterator[bytes]]
    media: bytes


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter behind the ? of a path: a string, or a whole number within bounds."""

    name: str
    about: str
    default: int | None = None  # of a number; None: a string
    least: int = 0
    most: int = 500  # of a number, or characters of a string
    pattern: str | None = None  # of a string


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `scope` is what a key needs; None: no key is needed."""

    method: str
    path: str
    scope: str | None
    run: Callable[[Request], Awaitable[Any]]
    answer: Any  # a type, or one of several; str: plain text
    body: Any = None  # a type, or None
    status: int = 200
    problems: tuple[str, ...] = ()  # that only this call has, by name
    parameters: tuple[Parameter, ...] = field(default=())
    media: tuple[str, ...] = ("application/json",)  # of the body
    optional: bool = False  # whether no body is one, too
    page: bool = False  # whether it is for people, whose addresses may have any parameters

    @property
    def name(self) -> str:
        """How documents call it."""
        return self.run.__name__

    @property
    def answers(self) -> tuple[Any, ...]:
        """The types that an answer may have."""
        return self.answer if isinstance(self.answer, tuple) else (self.answer,)

    @property
    def about(self) -> str:
        """One sentence: the docstring of what is run."""
        return (self.run.__doc__ or "").partition("\n")[0]


def given(body: Any, *leave_out: str) -> dict[str, Any]:
    """The fields of a body that were sent."""
    return {
        name: value
        for name in body.__struct_fields__
        if name not in leave_out and not isinstance(value := getattr(body, name), UnsetType)
    }


Look = Callable[[LocalTournament, dict[str, Any]], Any]


def reads_tournament(look: Look) -> Callable[[Request], Awaitable[Plain]]:
    """A call that reads one tournament, in the read pool. `look` gets the tournament and the parameters."""
    return _reading(look, lambda service: service.reads)


def reads_tournament_slowly(look: Look) -> Callable[[Request], Awaitable[Plain]]:
    """The same for what may take a second: other reads do not wait for it."""
    return _reading(look, lambda service: service.replays)


def reads_tournament_cached(look: Look) -> Callable[[Request], Awaitable[Plain]]:
    """The same for what depends on the journal only: the answer is kept until an event is appended."""
    return _reading(look, lambda service: service.reads, lambda t: t.number)


def _reading(
    look: Look, pool: Callable[["Service"], "ReadPool"], version: Callable[[LocalTournament], int] | None = None
) -> Callable[[Request], Awaitable[Plain]]:
    @wraps(look)
    async def run(request: Request) -> Plain:
        t = await request.service.tournament(request.path["name"])
        given = request.path | request.query
        key = look.__name__, *sorted(given.items())
        dated = None if version is None else partial(version, t)
        return plain_json(await pool(request.service).answer(key, lambda: encode(look(t, given)), dated))

    return run
