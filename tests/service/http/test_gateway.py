"""The gateway, without a server: deadline, host check, errors as problems, metrics, draining of bodies."""

import asyncio
import logging
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rankduel.errors import BrokenTournament, StorageError, UnknownTournament
from rankduel.service.http.body_limits import ClientDisconnected
from rankduel.service.http.gateway import Gateway
from rankduel.service.http.responses import Response, send_response
from rankduel.service.problems import CLOSE_CONNECTION, Problem
from service.asgi import request, scope_of
from service.offline import offline_service
from service.servers import Answer


def gateway(app: ASGIApp, **settings: Any) -> Gateway:
    return Gateway(offline_service(**settings), app)


async def ok(scope: Scope, receive: Receive, send: Send) -> None:
    scope["route_path"] = "/here/{name}"
    await send_response(scope, send, Response(b"ok", b"text/plain"))


def raising(error: Exception) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    return app


def get(app: Gateway, **headers: str) -> Answer:
    return asyncio.run(request(app, "GET", "/here/x", headers=headers))


def test_a_response_passes_with_security_headers() -> None:
    answer = get(gateway(ok))
    assert (answer.status, answer.raw) == (200, b"ok")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("error", "status", "problem"),
    [
        (Problem("wrong-state", "it is stopped"), 409, "wrong-state"),
        (UnknownTournament("no tournament 'x'"), 404, "unknown-tournament"),
        (BrokenTournament("event 3"), 503, "broken-tournament"),
        (StorageError("/secret/path.db is locked"), 503, "storage"),
        (ValueError("bad"), 422, "bad-value"),
        (KeyError("/secret/path.db"), 500, "failed"),
    ],
)
def test_errors_become_problems(error: Exception, status: int, problem: str) -> None:
    answer = get(gateway(raising(error)))
    assert (answer.status, answer.problem) == (status, problem)
    assert b"secret" not in answer.raw
    assert b"Traceback" not in answer.raw


def test_errors_of_the_server_are_logged_a_few_times(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "rankduel.service")
    app = gateway(raising(ZeroDivisionError()))
    for _ in range(50):
        get(app)
    logged = [record for record in caplog.records if record.message == "request failed"]
    assert 0 < len(logged) <= 11


def test_unknown_hosts_are_refused_before_the_app() -> None:
    called = gateway(raising(AssertionError()))
    answer = get(called, host="evil.example")
    assert (answer.status, answer.problem, answer.body["value"]) == (400, "bad-host", "evil.example")


@pytest.mark.parametrize("name", ["authorization", "content-length", "content-type", "host"])
def test_headers_that_must_be_single(name: str) -> None:
    async def run() -> list[Message]:
        sent: list[Message] = []
        scope = scope_of("GET", "/", {name: "localhost"})
        scope["headers"] += [(name.encode(), b"localhost")]

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            sent.append(message)

        await gateway(ok)(scope, receive, send)
        return sent

    assert asyncio.run(run())[0]["status"] == 400


def test_other_headers_may_come_twice() -> None:
    async def run() -> int:
        scope, statuses = scope_of("GET", "/", {}), []
        scope["headers"] += [(b"accept", b"a"), (b"accept", b"b")]

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            statuses.append(message.get("status"))

        await gateway(ok)(scope, receive, send)
        return int(statuses[0] or 0)

    assert asyncio.run(run()) == 200


def test_the_deadline_ends_a_request_and_its_connection() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(60)

    answer = get(gateway(slow, deadline=0.05))
    assert (answer.status, answer.problem) == (503, "deadline")
    assert answer.headers["connection"] == "close"


def test_requests_are_counted_by_route_not_by_path() -> None:
    app = gateway(ok)
    get(app)
    asyncio.run(request(gateway(raising(Problem("not-found"))), "GET", "/x"))
    metrics = app.service.metrics
    assert metrics.requests == {("GET", "/here/{name}", 200): 1}
    assert metrics.in_flight == 0
    ((route, buckets, seconds),) = metrics.durations()
    assert (route, buckets[-1]) == (("GET", "/here/{name}"), (float("inf"), 1))
    assert 0 < seconds < 60


def test_requests_without_a_route_are_counted_together() -> None:
    app = gateway(raising(Problem("not-found")))
    for method in ("GET", "BREW"):
        asyncio.run(request(app, method, f"/{method}"))
    assert app.service.metrics.requests == {("other", "other", 404): 2}


def test_wrong_methods_are_counted_together() -> None:
    """Otherwise clients choose how many series there are."""

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        scope["route_path"] = "/here/{name}"
        raise Problem("wrong-method")

    app = gateway(refused)
    for method in ("PROPFIND", "LOCK"):
        asyncio.run(request(app, method, "/here/x"))
    assert app.service.metrics.requests == {("other", "/here/{name}", 405): 2}


def test_a_client_that_disconnects_gets_no_response() -> None:
    async def run() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await gateway(raising(ClientDisconnected()))(scope_of("POST", "/"), receive, send)
        return sent

    assert asyncio.run(run()) == []


@pytest.mark.parametrize(
    ("error", "parts"), [(Problem("no-key"), 5), (Problem("too-large", headers=CLOSE_CONNECTION), 0)]
)
def test_the_body_of_a_refused_request_is_drained(error: Problem, parts: int) -> None:
    """A client that is still sending would miss the response. If the connection is closed anyway, nothing is read."""
    received = 0

    async def run() -> None:
        async def receive() -> Message:
            nonlocal received
            received += 1
            return {"type": "http.request", "body": b"x" * 1000, "more_body": received < 5}

        async def send(message: Message) -> None:
            assert received == parts

        await gateway(raising(error))(scope_of("POST", "/"), receive, send)

    asyncio.run(run())


def test_nothing_is_sent_after_a_response_has_begun() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await ok(scope, receive, send)
        raise ZeroDivisionError

    assert get(gateway(broken)).raw == b"ok"


def test_the_access_log_names_the_route_only(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "rankduel.access")
    asyncio.run(request(gateway(ok, access_log=True), "GET", "/here/secret?key=secret"))
    (record,) = caplog.records
    assert {"method": "GET", "path": "/here/{name}", "status": 200}.items() <= vars(record).items()
    assert "secret" not in str(vars(record))


def test_websockets_are_ignored() -> None:
    async def run() -> None:
        async def never(*_: Any) -> Any:
            raise AssertionError

        await gateway(raising(AssertionError()))({"type": "websocket"}, never, never)

    asyncio.run(run())
