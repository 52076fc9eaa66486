"""Browser routes: pages and files of the dashboard, sign-in and sign-out, and the stream of changes."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from time import monotonic
from typing import Any

from rankduel.dashboard import CONTENT_SECURITY_POLICY, FILES, File
from rankduel.live import LocalTournament
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.responses import Response, StreamingResponse
from rankduel.service.http.routing import Request, Route
from rankduel.service.problems import Headers, Problem
from rankduel.service.service import Service

__all__ = ["ROUTES", "index_page"]

_POLL_SECONDS = 0.5  # between two checks for changes
_HEARTBEAT_SECONDS = 5.0  # a stream without changes sends a heartbeat at this interval; live.js expects it
_MAX_STREAM_SECONDS = 300.0  # then the browser reconnects and authenticates again
_MAX_STREAMS = 200
_UNBUFFERED = ((b"x-accel-buffering", b"no"),)  # nginx holds back the events of a stream otherwise


def index_page(status: int = 200) -> Response:
    """Return the only HTML page. Its script renders the view for the URL."""
    return _file_response(FILES["index.html"], status)


def _file_response(file: File, status: int = 200) -> Response:
    policy = (b"content-security-policy", CONTENT_SECURITY_POLICY.encode())
    return Response(file.content, file.media.encode(), status, (policy,))


async def show_page(request: Request) -> Response:
    """A page of the dashboard."""
    return index_page()


async def show_file(request: Request) -> Response:
    """A file of the dashboard."""
    file = FILES.get(request.path["file"])
    if file is None:
        name = request.path["file"][:200]
        raise Problem("not-found", f"the dashboard has no file {name!r}; reload the page", value=name)
    return _file_response(file)


async def sign_in(request: Request) -> Response:
    """Start a login session with the API key of the request."""
    cookie = request.service.authentication.sessions.new_cookie(request.key, secure=request.secure)
    return _session(request, ((b"set-cookie", cookie),))


async def session(request: Request) -> Response:
    """The API key of the session, and the token that changes need."""
    return _session(request)


async def sign_out(request: Request) -> Response:
    """End the login session."""
    cookie = request.service.authentication.sessions.expired_cookie(secure=request.secure)
    return Response(b"{}", b"application/json", headers=((b"set-cookie", cookie),))


def _session(request: Request, headers: Headers = ()) -> Response:
    key, authentication = request.key, request.service.authentication
    fields = {
        "name": key.name,
        "scopes": list(key.scopes),
        "token": authentication.sessions.csrf_token(key),
        "keys": authentication.api_keys.required,  # without keys, there is no session to end
    }
    return Response(json.dumps(fields).encode(), b"application/json", headers=headers)


async def watch(request: Request) -> StreamingResponse:
    """Server-sent events: one for each change of a tournament, or of any tournament, and a heartbeat."""
    service, name = request.service, request.query.get("tournament")
    if name is not None:
        await service.tournament(name)
    if service.watchers >= _MAX_STREAMS:
        raise Problem("too-many-requests", f"{_MAX_STREAMS} streams are open, which is the maximum; try again later")
    return StreamingResponse(partial(_changes, service, request.key.id, name), b"text/event-stream", _UNBUFFERED)


async def _changes(service: Service, key_id: str, name: str | None, stop: asyncio.Event) -> AsyncIterator[bytes]:
    service.watchers += 1
    started = sent = monotonic()
    last = None
    try:
        yield b"retry: 1000\n\n"
        while not stop.is_set() and monotonic() - started < _MAX_STREAM_SECONDS:
            api_keys = service.authentication.api_keys
            if api_keys.required and api_keys.by_id(key_id) is None:
                break
            versions = _versions(service, name)
            if versions != last:
                last, sent = versions, monotonic()
                yield b"event: change\ndata: %d\n\n" % sum(number for _, number, *_ in versions)
            elif monotonic() - sent >= _HEARTBEAT_SECONDS:
                sent = monotonic()
                yield b"event: heartbeat\ndata: 1\n\n"  # scripts do not see comments
            try:
                await asyncio.wait_for(stop.wait(), _POLL_SECONDS)
            except TimeoutError:
                continue
    finally:
        service.watchers -= 1


def _versions(service: Service, name: str | None) -> list[tuple[Any, ...]]:
    """Return values that change whenever a tournament changes."""
    tournaments = list(service.open_tournaments.tournaments.values())
    return [_version(service, t) for t in tournaments if name is None or t.name == name]


def _version(service: Service, t: LocalTournament) -> tuple[Any, ...]:
    return t.name, t.number, t.counters_version, str(t.failing), service.readable, service.forecasts.of(t)


_PAGE = "/t/{name}"
ROUTES = (
    Route("GET", "/", None, show_page, str, any_query=True),
    Route("GET", "/new", None, show_page, str, any_query=True),
    Route("GET", "/sign-in", None, show_page, str, any_query=True),
    Route("GET", _PAGE, None, show_page, str, any_query=True),
    Route("GET", _PAGE + "/{page}", None, show_page, str, any_query=True),
    Route("GET", _PAGE + "/{page}/{item}", None, show_page, str, any_query=True),
    Route("GET", "/assets/{file}", None, show_file, str, any_query=True),
    Route("POST", "/v1/session", "read", sign_in, dict),
    Route("GET", "/v1/session", "read", session, dict),
    Route("DELETE", "/v1/session", None, sign_out, dict),
    Route(
        "GET",
        "/v1/watch",
        "read",
        watch,
        str,
        parameters=(Parameter("tournament", "The tournament to watch. Default: all tournaments."),),
    ),
)
