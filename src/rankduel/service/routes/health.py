"""Monitoring routes: liveness, readiness, metrics and the OpenAPI document."""

from dataclasses import asdict
from functools import partial

from prometheus_client.exposition import choose_encoder

from rankduel.errors import StorageError
from rankduel.service.http import response_schemas as out
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request, Route
from rankduel.service.problems import Problem

__all__ = ["ROUTES"]

_TEXT = b"text/plain; charset=utf-8"


async def livez(request: Request) -> Response:
    """Liveness: the server answers requests."""
    return Response(b"ok\n", _TEXT)


async def readyz(request: Request) -> Response:
    """Readiness: the storage can be read and written. "degraded" means that something needs attention."""
    service = request.service
    if not service.ready:
        raise Problem("stopping", "the server is starting or stopping; try again later")
    if not service.readable:
        raise StorageError("the last read of the storage failed")
    if (damage := service.open_tournaments.storage.damage) is not None:
        raise StorageError(damage)
    if (failure := service.open_tournaments.write_failure) is not None:
        problem = Problem("storage", "the storage cannot be written: asks get the baseline, and tells are refused")
        raise problem from failure
    degraded = service.degraded()
    return Response(f"degraded: {'; '.join(degraded)}\n".encode() if degraded else b"ok\n", _TEXT)


async def metrics(request: Request) -> Response:
    """Prometheus metrics of the server and its tournaments, as text or as OpenMetrics (header `Accept`)."""
    service = request.service
    accept = request.headers.get(b"accept", b"").decode("latin-1")
    try:
        encode, media_type = choose_encoder(accept)
    except TypeError:  # a version that is no number
        encode, media_type = choose_encoder("")
    body = await service.scrapes.answer(media_type, partial(encode, service.registry))
    return Response(body, media_type.encode("latin-1"))


async def webhooks(request: Request) -> out.WebhookList:
    """The webhooks of the service, with the messages that were delivered and those that wait."""
    statuses = request.service.webhooks.statuses()
    return out.WebhookList(webhooks=[out.Webhook(**asdict(status)) for status in statuses])


async def openapi(request: Request) -> Response:
    """The OpenAPI 3.1 document of this service."""
    return json_response(request.service.openapi)


ROUTES = (
    Route("GET", "/livez", None, livez, str),
    Route("GET", "/readyz", None, readyz, str, problems=("stopping", "storage")),
    Route("GET", "/metrics", "read", metrics, str),
    Route("GET", "/v1/webhooks", "read", webhooks, out.WebhookList),
    Route("GET", "/v1/openapi.json", None, openapi, dict),
)
