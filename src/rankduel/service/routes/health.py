"""The calls of machines: is it alive, is it ready, what has it done, and what can be called."""

from functools import partial

from rankduel.errors import StorageError
from rankduel.service.http.problems import Problem
from rankduel.service.http.routing import Call, Plain, Request
from rankduel.service.open_tournaments import OpenTournaments

__all__ = ["CALLS"]

_TEXT = b"text/plain; charset=utf-8"


async def livez(request: Request) -> Plain:
    """Whether the server answers at all."""
    return Plain(b"ok\n", _TEXT)


async def readyz(request: Request) -> Plain:
    """Whether it takes requests: the storage can be read and is sound. "degraded": something needs attention."""
    service = request.service
    if not service.ready:
        raise Problem("stopping", "not ready")
    if not service.readable:
        raise StorageError("the storage could not be read when it was last tried")
    if (damage := service.open_tournaments.storage.damage) is not None:
        raise StorageError(damage)
    degraded = service.degraded()
    return Plain(f"degraded: {'; '.join(degraded)}\n".encode() if degraded else b"ok\n", _TEXT)


async def metrics(request: Request) -> Plain:
    """Counters, as Prometheus reads them."""
    service = request.service
    counted = await service.reads.answer("metrics", partial(_of_tournaments, service.open_tournaments))
    text = "\n".join([*service.metrics.lines(), ""]).encode() + counted
    return Plain(text, b"text/plain; version=0.0.4; charset=utf-8")


def _of_tournaments(open_tournaments: OpenTournaments) -> bytes:
    return "\n".join([*open_tournaments.metrics(), ""]).encode()


async def openapi(request: Request) -> Plain:
    """The OpenAPI 3.1 document: this one."""
    return Plain(request.service.openapi, b"application/json")


CALLS = (
    Call("GET", "/livez", None, livez, str),
    Call("GET", "/readyz", None, readyz, str, problems=("stopping", "storage")),
    Call("GET", "/metrics", "read", metrics, str),
    Call("GET", "/v1/openapi.json", None, openapi, dict),
)
