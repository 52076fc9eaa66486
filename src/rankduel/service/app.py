"""The service as an ASGI app: the calls at their paths, behind one door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import msgspec
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from rankduel.service.http.gateway import Endpoint, Gateway, reply
from rankduel.service.http.limits import Buckets
from rankduel.service.http.openapi import document
from rankduel.service.http.problems import Problem
from rankduel.service.http.routing import Call
from rankduel.service.routes import admin, browser, dashboard, health, read, traffic
from rankduel.service.service import Service
from rankduel.service.settings import ServiceSettings

__all__ = ["CALLS", "make_app"]

CALLS: tuple[Call, ...] = (*traffic.CALLS, *admin.CALLS, *read.CALLS, *dashboard.CALLS, *health.CALLS)


def make_app(storage: str, settings: ServiceSettings | None = None) -> Gateway:
    """The app for the tournaments of a storage, known by its address. It opens the storage when it starts."""
    settings = settings or ServiceSettings()
    service = Service(storage, settings)
    service.openapi = msgspec.json.encode(document(CALLS, version("rankduel")))
    buckets = Buckets(settings.rate, settings.burst)
    wrong = Buckets(settings.wrong_keys, settings.wrong_keys_burst)
    paths: dict[str, list[Call]] = {}
    for call in (*CALLS, *browser.CALLS):
        paths.setdefault(call.path, []).append(call)
    # The path with a verb comes before the one that would take the verb for a part of the name.
    ordered = sorted(paths, key=lambda path: ("/ask" not in path and "/tell" not in path, ":" not in path))
    routes = [Route(path, Endpoint(service, paths[path], buckets, wrong)) for path in ordered]

    @asynccontextmanager
    async def life(_: Any) -> AsyncIterator[None]:
        if not service.ready:
            await service.begin()
        try:
            yield
        finally:
            await service.end()

    return Gateway(service, Router(routes, redirect_slashes=False, default=_nothing, lifespan=life))


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] == "GET" and b"text/html" in scope["fields"].get(b"accept", b""):  # somebody with a browser
        await reply(scope, send, browser.page(404))
        return
    raise Problem("not-found", "no call has this address", value=scope["path"][:200])
