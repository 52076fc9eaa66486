"""Requests to an ASGI app in this process, from any address: no server and no socket."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from service.servers import Answer


def scope_of(
    method: str, path: str, headers: Mapping[str, str] | None = None, address: str | None = "127.0.0.1"
) -> Scope:
    """A request as uvicorn hands it over."""
    raw_path, _, query = path.partition("?")
    sent = {"host": "localhost"} | {name.lower(): value for name, value in (headers or {}).items()}
    return {
        "type": "http",
        "method": method,
        "path": raw_path,
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
        "client": None if address is None else (address, 1234),
    }


async def request(
    app: ASGIApp,
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    address: str | None = "127.0.0.1",
) -> Answer:
    """One request and its answer; a body that is no bytes is sent as JSON."""
    sent = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent = {"content-type": "application/json"} | sent
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope_of(method, path, sent, address), receive, send)
    start, *parts = messages
    got = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], got, b"".join(part["body"] for part in parts))
