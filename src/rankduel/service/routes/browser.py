"""What only browsers call: the files of the dashboard, sign-in and sign-out, and the stream of what has changed."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from time import monotonic
from typing import Any

from rankduel.dashboard import CONTENT_SECURITY_POLICY, FILES, File
from rankduel.live import LocalTournament
from rankduel.service.http.problems import Problem
from rankduel.service.http.routing import Call, Parameter, Plain, Request, Stream
from rankduel.service.service import Service

__all__ = ["CALLS", "page"]

_LOOK = 0.5  # seconds between two looks at what has changed
_QUIET = 15.0  # after which a stream says that it is alive
_LONGEST = 300.0  # of a stream: browsers come back by themselves, and must show their session again
_MOST = 200  # streams


def page(status: int = 200) -> Plain:
    """The page that all pages are: its script looks at the address."""
    return _answer(FILES["index.html"], status)


def _answer(file: File, status: int = 200) -> Plain:
    policy = (b"content-security-policy", CONTENT_SECURITY_POLICY.encode())
    return Plain(file.content, file.media.encode(), status, (policy,))


async def show_page(request: Request) -> Plain:
    """A page of the dashboard."""
    return page()


async def show_file(request: Request) -> Plain:
    """A file of the dashboard."""
    file = FILES.get(request.path["file"])
    if file is None:
        raise Problem("not-found", "the dashboard has no such file", value=request.path["file"][:200])
    return _answer(file)


async def sign_in(request: Request) -> Plain:
    """Begin a session with the key that the request shows."""
    cookie = request.service.sessions.begin(request.key, secure=request.secure)
    return _session(request, ((b"set-cookie", cookie),))


async def session(request: Request) -> Plain:
    """Who is signed in, and the token that changes need."""
    return _session(request)


async def sign_out(request: Request) -> Plain:
    """End the session."""
    cookie = request.service.sessions.end()
    return Plain(b"{}", b"application/json", headers=((b"set-cookie", cookie),))


def _session(request: Request, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Plain:
    key = request.key
    told = {
        "name": key.name,
        "scopes": list(key.scopes),
        "token": request.service.sessions.token_of(key),
        "keys": request.service.key_ring.made,  # without keys there is nothing to sign out from
    }
    return Plain(json.dumps(told).encode(), b"application/json", headers=headers)


async def watch(request: Request) -> Stream:
    """Server-sent events: one whenever a tournament, or any of them, has changed."""
    service, name = request.service, request.query.get("tournament")
    if name is not None:
        await service.tournament(name)
    if service.watchers >= _MOST:
        raise Problem("too-many-requests", f"{_MOST} watch already")
    return Stream(partial(_changes, service, request.key.id, name), b"text/event-stream")


async def _changes(service: Service, key: str, name: str | None, stop: asyncio.Event) -> AsyncIterator[bytes]:
    service.watchers += 1
    begun = spoken = monotonic()
    last = None
    try:
        yield b"retry: 1000\n\n"
        while not stop.is_set() and monotonic() - begun < _LONGEST:
            if service.key_ring.made and service.key_ring.known(key) is None:
                break
            state = _state(service, name)
            if state != last:
                last, spoken = state, monotonic()
                yield b"event: change\ndata: %d\n\n" % sum(number for _, number, *_ in state)
            elif monotonic() - spoken > _QUIET:
                spoken = monotonic()
                yield b": alive\n\n"
            try:
                await asyncio.wait_for(stop.wait(), _LOOK)
            except TimeoutError:
                continue
    finally:
        service.watchers -= 1


def _state(service: Service, name: str | None) -> list[tuple[Any, ...]]:
    """What differs when something has changed."""
    tournaments = list(service.open_tournaments.tournaments.values())
    return [_of(service, t) for t in tournaments if name is None or t.name == name]


def _of(service: Service, t: LocalTournament) -> tuple[Any, ...]:
    return t.name, t.number, t.counters_version, str(t.failing), service.readable, service.forecasts.of(t)


_AT = "/t/{name}"
CALLS = (
    Call("GET", "/", None, show_page, str, page=True),
    Call("GET", "/new", None, show_page, str, page=True),
    Call("GET", "/sign-in", None, show_page, str, page=True),
    Call("GET", _AT, None, show_page, str, page=True),
    Call("GET", _AT + "/{page}", None, show_page, str, page=True),
    Call("GET", _AT + "/{page}/{item}", None, show_page, str, page=True),
    Call("GET", "/assets/{file}", None, show_file, str, page=True),
    Call("POST", "/v1/session", "read", sign_in, dict),
    Call("GET", "/v1/session", "read", session, dict),
    Call("DELETE", "/v1/session", None, sign_out, dict),
    Call(
        "GET",
        "/v1/watch",
        "read",
        watch,
        str,
        parameters=(Parameter("tournament", "The one to watch; without it, all of them."),),
    ),
)
