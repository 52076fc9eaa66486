"""ASGI app of the service: the gateway, then a router with all routes."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import msgspec
from starlette import routing
from starlette.types import Receive, Scope, Send

from rankduel.service.http.endpoint import Endpoint
from rankduel.service.http.gateway import Gateway
from rankduel.service.http.openapi import document
from rankduel.service.http.rate_limits import RateLimits, TokenBuckets
from rankduel.service.http.responses import send_response
from rankduel.service.http.routing import Route
from rankduel.service.problems import Problem
from rankduel.service.proxies import TrustedProxies
from rankduel.service.routes import admin, algorithms, browser, dashboard, health, overviews, preview, read, traffic
from rankduel.service.service import Service
from rankduel.service.settings import ServiceSettings
from rankduel.service.webhooks.settings import WebhookSettings

__all__ = ["ROUTES", "make_app"]

# The documented API. Routes that only browsers use, such as pages, are not part of it.
ROUTES: tuple[Route, ...] = (
    *(*traffic.ROUTES, *admin.ROUTES, *preview.ROUTES, *read.ROUTES),
    *(*overviews.ROUTES, *dashboard.ROUTES, *algorithms.ROUTES, *health.ROUTES),
)


def make_app(
    storage: str,
    settings: ServiceSettings | None = None,
    *,
    create: bool = False,
    webhooks: Sequence[WebhookSettings] = (),
) -> Gateway:
    """Return the ASGI app for the storage at a URL. The app opens the storage when it starts.

    With `create`, it creates a storage that does not exist. Otherwise that is an error.
    """
    settings = settings or ServiceSettings()
    service = Service(storage, settings, create=create, webhooks=webhooks)
    service.openapi = msgspec.json.encode(document(ROUTES, version("rankduel")))
    rate_limits = RateLimits(
        requests=TokenBuckets(settings.rate, settings.burst),
        wrong_keys=TokenBuckets(settings.wrong_keys, settings.wrong_keys_burst),
    )
    by_path: dict[str, list[Route]] = {}
    for route in (*ROUTES, *browser.ROUTES):
        by_path.setdefault(route.path, []).append(route)
    # Asks and tells come first, for speed. A path with a verb comes before a path that would match it as a name.
    ordered = sorted(by_path, key=lambda path: ("/ask" not in path and "/tell" not in path, ":" not in path))
    proxies = TrustedProxies(settings.trusted_proxies)
    endpoints = [routing.Route(path, Endpoint(service, by_path[path], rate_limits, proxies)) for path in ordered]

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if not service.ready:
            await service.start()
        try:
            yield
        finally:
            await service.stop()

    return Gateway(service, routing.Router(endpoints, redirect_slashes=False, default=_not_found, lifespan=lifespan))


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] == "GET" and b"text/html" in scope["headers_by_name"].get(b"accept", b""):  # a browser
        await send_response(scope, send, browser.index_page(404))
        return
    path = scope["path"][:200]
    raise Problem("not-found", f"no route matches {path!r}; GET /v1/openapi.json lists all routes", value=path)
