"""What a call is: where it is found, who may make it, what it takes and gives. Routes and OpenAPI are made of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UnsetType

from rankduel.live import Tournament
from rankduel.service.keys import Key

if TYPE_CHECKING:
    from rankduel.service.service import Service

__all__ = ["Call", "Parameter", "Plain", "Request", "Stream", "given", "looking"]

T = TypeVar("T")


@dataclass(slots=True)
class Request:
    """One request, as a call sees it: read, checked, and known who sent it."""

    service: "Service"
    key: Key  # of whoever sent it
    path: dict[str, str]  # what stands for {name} in the path
    query: dict[str, Any]  # the parameters behind the ?, checked
    body: Any
    secure: bool = False  # whether it came by HTTPS, as a proxy says

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
    most: int = 0


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


def looking(look: Callable[[Tournament, dict[str, Any]], T]) -> Callable[[Request], Awaitable[T]]:
    """A call that looks at one tournament, in another thread. `look` gets the tournament and the parameters."""

    @wraps(look)
    async def run(request: Request) -> T:
        t = await request.service.tournament(request.path["name"])
        return await request.service.off(look, t, request.path | request.query)

    return run
