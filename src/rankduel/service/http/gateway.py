"""ASGI entry point of the service: deadline, host check, error responses, request metrics and access log.

`endpoint.py` checks API keys and rate limits, once the path is known.
"""

import asyncio
import logging
from collections.abc import Sequence
from time import perf_counter

from starlette.types import ASGIApp, Receive, Scope, Send

from rankduel.service.http.body_limits import ClientDisconnected, drain_body
from rankduel.service.http.deadlines import Deadlines
from rankduel.service.http.hosts import Hosts
from rankduel.service.http.responses import send_problem
from rankduel.service.problems import CLOSE_CONNECTION, Problem, problem_of
from rankduel.service.service import Service

__all__ = ["Gateway"]

_access_log = logging.getLogger("rankduel.access")
_SINGLE_NAMES = ("authorization", "content-length", "content-type", "host")  # sent twice, they would be ambiguous
_WRONG_METHOD = 405
_SINGLE = {name.encode() for name in _SINGLE_NAMES}


class Gateway:
    """Answers every request within the deadline, and never with a stack trace. `app` is the router."""

    def __init__(self, service: Service, app: ASGIApp) -> None:
        self.service, self.app = service, app
        self._hosts = Hosts(service.settings.allowed_hosts)
        self._deadlines = Deadlines(service.settings.deadline)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        started, metrics = perf_counter(), self.service.metrics
        metrics.in_flight += 1
        deadlines = scope["deadlines"] = self._deadlines
        task = deadlines.start()
        try:
            try:
                scope["headers_by_name"] = headers = _headers_by_name(scope["headers"])
                self._hosts.check(headers.get(b"host", b""))
                scope["path"] = scope["raw_path"].decode("ascii")  # percent-encoded: a name may contain a slash
                await self.app(scope, receive, send)
            except ClientDisconnected:
                return
            except asyncio.CancelledError:
                if not deadlines.passed(task):
                    raise
                detail = f"no response within {deadlines.seconds:g} s; try again later"
                await send_problem(scope, send, Problem("deadline", detail, headers=CLOSE_CONNECTION))
            except Exception as error:
                deadlines.end(task)
                problem = problem_of(error)
                if problem.headers is not CLOSE_CONNECTION and "status" not in scope:
                    await drain_body(scope, receive, self.service.settings.largest_body)
                await send_problem(scope, send, problem)
        finally:
            deadlines.end(task)
            metrics.in_flight -= 1
            self._count(scope, perf_counter() - started)

    def _count(self, scope: Scope, seconds: float) -> None:
        path, status = scope.get("route_path", "other"), scope.get("status", 0)
        method = scope["method"] if path != "other" and status != _WRONG_METHOD else "other"  # clients choose others
        self.service.metrics.count_request(method, path, status, seconds)
        if self.service.settings.access_log:
            fields = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 6)}
            _access_log.info("request", extra=fields)


def _headers_by_name(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by name. Raise a Problem if a header came twice that must be unique."""
    by_name = {name: value.strip() for name, value in headers}
    if len(by_name) < len(headers) and sum(name in _SINGLE for name, _ in headers) > len(_SINGLE & by_name.keys()):
        raise Problem("bad-request", f"duplicate header; send each of these at most once: {', '.join(_SINGLE_NAMES)}")
    return by_name
