"""Responses: complete responses, streams and problems, each with security headers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec
from starlette.types import Receive, Scope, Send

from rankduel.service.http.rate_limits import TokenBuckets
from rankduel.service.problems import Headers, Problem

__all__ = ["Response", "StreamingResponse", "json_response", "send_problem", "send_response", "send_stream"]

_SECURITY_HEADERS = [  # of every response
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
_logged_problems = TokenBuckets(rate=1, burst=10)  # per type: a broken disk must not fill the log
_log = logging.getLogger("rankduel.service")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response. Its headers replace default headers of the same names."""

    body: bytes
    media_type: bytes
    status: int = 200
    headers: Headers = ()


def json_response(body: bytes) -> Response:
    """Return a response with a body that is already JSON."""
    return Response(body, b"application/json")


@dataclass(frozen=True, slots=True)
class StreamingResponse:
    """A response that continues until the client disconnects or the server stops. Then the event is set."""

    parts: Callable[[asyncio.Event], AsyncIterator[bytes]]
    media_type: bytes
    headers: Headers = ()


async def send_response(scope: Scope, send: Send, response: Response, more: Headers = ()) -> None:
    """Send a complete response with additional headers."""
    scope["status"] = response.status
    own = {name for name, _ in response.headers}
    security = [header for header in _SECURITY_HEADERS if header[0] not in own] if own else _SECURITY_HEADERS
    length = (b"content-length", b"%d" % len(response.body))
    headers = [(b"content-type", response.media_type), length, *security, *response.headers, *more]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def send_stream(scope: Scope, receive: Receive, send: Send, response: StreamingResponse) -> None:
    """Send a stream without a deadline. `GuardedProtocol` sets `scope["stop"]` when the server stops."""
    scope["deadlines"].end(asyncio.current_task())
    scope["status"] = 200
    stop = scope["stop"] = asyncio.Event()
    disconnect = asyncio.create_task(_stop_on_disconnect(receive, stop))
    try:
        headers = [(b"content-type", response.media_type), *_SECURITY_HEADERS, *response.headers]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for part in response.parts(stop):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        disconnect.cancel()


async def _stop_on_disconnect(receive: Receive, stop: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stop.set()


async def send_problem(scope: Scope, send: Send, problem: Problem) -> None:
    """Send a problem and log server errors. If a response has begun, the server closes the connection instead."""
    if problem.kind.status >= 500 and _logged_problems.take(problem.kind.name) == 0:
        fields = {"path": scope.get("route_path", "other"), "problem": problem.kind.name}
        _log.error("request failed", extra=fields, exc_info=problem.__cause__)
    if "status" in scope:
        return
    response = Response(_encode(problem.body()), b"application/problem+json", problem.kind.status)
    await send_response(scope, send, response, problem.headers)
