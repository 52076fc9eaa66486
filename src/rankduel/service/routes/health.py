"""Monitoring routes: liveness, readiness, metrics and the OpenAPI document."""

from functools import partial

from rankduel.errors import StorageError
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request, Route
from rankduel.service.metrics import server_metrics, tournament_metrics
from rankduel.service.open_tournaments import OpenTournaments
from rankduel.service.problems import Problem

__all__ = ["ROUTES"]

_TEXT = b"text/plain; charset=utf-8"
_PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"


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
    """Prometheus metrics of the server and its tournaments."""
    service = request.service
    of_tournaments = await service.reads.answer("metrics", partial(_tournament_metrics, service.open_tournaments))
    return Response("\n".join([*server_metrics(service.metrics), ""]).encode() + of_tournaments, _PROMETHEUS)


def _tournament_metrics(opened: OpenTournaments) -> bytes:
    return "\n".join([*tournament_metrics(dict(opened.tournaments), list(opened.broken)), ""]).encode()


async def openapi(request: Request) -> Response:
    """The OpenAPI 3.1 document of this service."""
    return json_response(request.service.openapi)


ROUTES = (
    Route("GET", "/livez", None, livez, str),
    Route("GET", "/readyz", None, readyz, str, problems=("stopping", "storage")),
    Route("GET", "/metrics", "read", metrics, str),
    Route("GET", "/v1/openapi.json", None, openapi, dict),
)
