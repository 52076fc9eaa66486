"""Body limits: read a request body up to a maximum size, and drain the body of a refused request.

`Endpoint` (endpoint.py) passes the maximum, the setting `largest_body`.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from starlette.types import Receive, Scope

from rankduel.service.problems import CLOSE_CONNECTION, Problem

__all__ = ["ClientDisconnected", "drain_body", "read_body"]

_DRAIN_SECONDS = 1.0  # time to drain a refused request before the connection is closed
_MAX_LENGTH_DIGITS = 15  # of a Content-Length header


class ClientDisconnected(Exception):  # noqa: N818 - not an error of the server
    """The client closed the connection before its request was complete. No response is possible."""


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], max_bytes: int) -> bytes:
    """Read a whole body. Raise a Problem (413) if it is larger than `max_bytes`."""
    length = headers.get(b"content-length", b"0")
    if len(length) > _MAX_LENGTH_DIGITS or not length.isdigit() or int(length) > max_bytes:
        raise _too_large(max_bytes)
    message = await receive()
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        part = message.get("body", b"")
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body"):
            return part if not parts else b"".join((*parts, part))
        parts.append(part)
        message = await receive()


async def drain_body(scope: Scope, receive: Receive, max_bytes: int) -> None:
    """Read the rest of a refused request for a short time, because a client that is still sending misses the response.

    If the body is still incomplete after that, `GuardedProtocol` closes the connection after the response.
    """
    if "body" in scope or any(name == b"expect" for name, _ in scope["headers"]):
        return
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while size <= max_bytes:
                message = await receive()
                if not message.get("more_body"):
                    return
                size += len(message["body"])


def _too_large(max_bytes: int) -> Problem:
    detail = f"the body is larger than {max_bytes:,} bytes; send smaller batches"
    return Problem("too-large", detail, headers=CLOSE_CONNECTION)
