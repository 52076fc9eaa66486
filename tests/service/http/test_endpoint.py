"""Endpoints, without a server: method, authentication, rate limits, parameters, body, response."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Struct
from starlette.routing import Route as PathRoute
from starlette.routing import Router

from rankduel.service.auth.keys import ANONYMOUS, LOOPBACK, ApiKeys
from rankduel.service.http.endpoint import Endpoint
from rankduel.service.http.gateway import Gateway
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.rate_limits import RateLimits, TokenBuckets
from rankduel.service.http.responses import Response
from rankduel.service.http.routing import Request, Route
from rankduel.service.proxies import TrustedProxies
from service.asgi import request
from service.offline import key_row, offline_service
from service.servers import Answer

Handler = Callable[[Request], Awaitable[Any]]


class Body(Struct, forbid_unknown_fields=True):
    number: int = 7


def app(
    *routes: Route, rate: float = 100, wrong_keys: float = 100, keys: ApiKeys | None = None, **settings: Any
) -> Gateway:
    limits = RateLimits(TokenBuckets(0.001, rate), TokenBuckets(0.001, wrong_keys))
    service = offline_service(keys, **settings)
    proxies = TrustedProxies(service.settings.trusted_proxies)
    return Gateway(service, Router([PathRoute(routes[0].path, Endpoint(service, routes, limits, proxies))]))


def seen(**route: Any) -> tuple[list[Request], Route]:
    """A route, and the requests that reach its handler."""
    requests: list[Request] = []

    async def handler(request: Request) -> Any:
        requests.append(request)
        return {"number": 3}

    declared: dict[str, Any] = {
        "method": "POST",
        "path": "/items/{item}",
        "scope": "ask",
        "handler": handler,
        "response": dict,
    }
    return requests, Route(**declared | route)


def send(app: Gateway, method: str = "POST", path: str = "/items/a", body: Any = None, **more: Any) -> Answer:
    return asyncio.run(request(app, method, path, body, **more))


def test_a_result_is_sent_as_json_with_the_status_of_the_route() -> None:
    requests, route = seen(status=201)
    answer = send(app(route), path="/items/a%2Fb")
    assert (answer.status, answer.body) == (201, {"number": 3})
    assert answer.headers["content-type"] == "application/json"
    assert requests[0].path == {"item": "a/b"}
    assert requests[0].key is LOOPBACK


def test_a_response_is_sent_as_it_is() -> None:
    async def handler(request: Request) -> Response:
        return Response(b"text", b"text/plain", 202, ((b"cache-control", b"max-age=1"),))

    answer = send(app(Route("GET", "/items/{item}", None, handler, str)), "GET")
    assert (answer.status, answer.raw, answer.headers["cache-control"]) == (202, b"text", "max-age=1")


def test_methods() -> None:
    requests, route = seen(method="GET")
    served = app(route)
    assert send(served, "HEAD").status == 200
    answer = send(served, "DELETE")
    assert (answer.status, answer.problem, answer.headers["allow"]) == (405, "wrong-method", "GET, HEAD")
    assert len(requests) == 1


def test_a_route_without_a_scope_needs_no_key() -> None:
    requests, route = seen(scope=None)
    assert send(app(route, keys=ApiKeys([key_row("a", "ask")])), address="203.0.113.7").status == 200
    assert requests[0].key is ANONYMOUS


def test_a_key_needs_the_scope_of_the_route() -> None:
    requests, route = seen()
    served = app(route, keys=ApiKeys([key_row("a", "ask"), key_row("b", "read")]))
    for key, status, problem in (
        ("rd_a_secret", 200, ""),
        ("rd_b_secret", 403, "wrong-scope"),
        ("rd_a_x", 401, "wrong-key"),
    ):
        answer = send(served, headers={"Authorization": f"Bearer {key}"})
        assert answer.status == status
        assert not problem or answer.problem == problem
    assert [request.key.id for request in requests] == ["a"]


def test_rate_limits_of_requests_and_wrong_keys() -> None:
    requests, route = seen()
    served = app(route, keys=ApiKeys([key_row("a", "ask")]), rate=2, wrong_keys=1)
    right, wrong = {"Authorization": "Bearer rd_a_secret"}, {"Authorization": "Bearer rd_a_wrong"}
    assert [send(served, headers=wrong).problem for _ in range(2)] == ["wrong-key", "too-many-wrong-keys"]
    assert [send(served, headers=right).status for _ in range(3)] == [200, 200, 429]
    assert int(send(served, headers=right).headers["retry-after"]) > 1
    assert len(requests) == 2


def test_a_handler_can_charge_for_more_items() -> None:
    async def handler(request: Request) -> dict[str, int]:
        request.charge(5)
        return {}

    served = app(Route("POST", "/items/{item}", "ask", handler, dict), rate=6)
    assert [send(served).status for _ in range(3)] == [200, 429, 429]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 200),
        ("?limit=5&after=x", 200),
        ("?limit=501", 422),
        ("?limit=x", 422),
        ("?nothing=1", 422),
        ("?after=%ff", 400),
    ],
)
def test_query_parameters(query: str, status: int) -> None:
    requests, route = seen(parameters=(Parameter("limit", "", default=10), Parameter("after", "", maximum=3)))
    assert send(app(route), path=f"/items/a{query}").status == status
    if status == 200:
        assert requests[0].query == ({"limit": 5, "after": "x"} if query else {"limit": 10})


def test_any_query_is_ignored_on_pages() -> None:
    requests, route = seen(any_query=True)
    assert send(app(route), path="/items/a?x=%ff&&=").status == 200
    assert requests[0].query == {}


@pytest.mark.parametrize(
    ("body", "media_type", "status", "problem"),
    [
        (b'{"number": 3}', "application/json", 200, ""),
        (b'{"number": 3}', "Application/JSON; charset=utf-8", 200, ""),
        (b'{"number": 3}', "text/plain", 415, "wrong-media-type"),
        (b'{"number": "3"}', "application/json", 422, "bad-value"),
        (b'{"other": 3}', "application/json", 422, "bad-value"),
        (b"{", "application/json", 400, "bad-request"),
        (b'["\xff"]', "application/json", 400, "bad-request"),
        (b"[" * 1500, "application/json", 400, "too-deep"),
        (b" " * 2001, "application/json", 413, "too-large"),
    ],
)
def test_bodies(body: bytes, media_type: str, status: int, problem: str) -> None:
    requests, route = seen(body=Body | list[Any])
    answer = send(app(route, largest_body=2000), body=body, headers={"content-type": media_type})
    assert answer.status == status, answer
    assert not problem or answer.problem == problem
    if status == 200:
        assert requests[0].body == Body(3)


def test_an_invalid_value_is_located() -> None:
    _, route = seen(body=Body)
    answer = send(app(route), body={"number": "x"})
    assert (answer.body["title"], answer.body["at"]) == ("Invalid value", "$.number")
    assert "Expected `int`" in answer.body["detail"]


def test_an_optional_body() -> None:
    requests, route = seen(body=Body, body_optional=True)
    assert send(app(route)).status == 200
    assert requests[0].body == Body(7)


@pytest.mark.parametrize("length", ["2001", "-1", "x", "9" * 30])
def test_a_content_length_that_is_too_large_or_no_number(length: str) -> None:
    _, route = seen(body=Body)
    answer = send(app(route, largest_body=2000), body=b"{}", headers={"content-length": length})
    assert (answer.status, answer.problem, answer.headers["connection"]) == (413, "too-large", "close")
