"""Endpoint of one path: choose the route by method, authenticate, decode the request, call the handler, respond."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from rankduel.service.auth.authentication import WrongKey
from rankduel.service.auth.keys import ANONYMOUS, Key
from rankduel.service.http.body_limits import read_body
from rankduel.service.http.parameters import parse_path, parse_query
from rankduel.service.http.rate_limits import RateLimits, client_of
from rankduel.service.http.responses import Response, StreamingResponse, send_response, send_stream
from rankduel.service.http.routing import Request, Route
from rankduel.service.problems import Problem
from rankduel.service.proxies import TrustedProxies
from rankduel.service.service import Service

__all__ = ["Endpoint"]

_FORWARDED = {b"x-forwarded-for", b"x-forwarded-proto"}
_encode = msgspec.json.Encoder().encode


class Endpoint:
    """All routes of one path, as an ASGI app. It raises a Problem for invalid requests."""

    def __init__(
        self, service: Service, routes: Sequence[Route], rate_limits: RateLimits, proxies: TrustedProxies
    ) -> None:
        self.service = service
        self.path = routes[0].path
        self._routes = {route.method: route for route in routes}
        if "GET" in self._routes:
            self._routes["HEAD"] = self._routes["GET"]
        self._decoders = {
            route.method: msgspec.json.Decoder(route.body) for route in routes if route.body not in (None, bytes)
        }
        self._rate_limits = rate_limits
        self._proxies = proxies

    @property
    def methods(self) -> list[str]:
        """The methods of this path."""
        return list(self._routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["route_path"] = self.path
        route = self._route(scope["method"])
        headers: dict[bytes, bytes] = scope["headers_by_name"]
        query = {} if route.any_query else parse_query(route.parameters, scope["query_string"])
        key, client = ANONYMOUS, ""
        address, secure = scope["client"][0] if scope.get("client") else "", False
        if not _FORWARDED.isdisjoint(headers):
            address, secure = self._proxies.client(address, scope["headers"])
        if route.scope is not None:
            key = self._authenticate(route.scope, scope["method"], address, headers, query)
            client = client_of(key, address)
            self._rate_limits.count_request(client)
        path = parse_path(scope["path_params"])
        body = None
        if route.body is not None:
            scope["body"] = raw = await read_body(receive, headers, self.service.settings.largest_body)
            body = self._decoded(route, headers, raw)
        limits = self._rate_limits
        response = await route.handler(Request(self.service, key, path, query, body, secure, limits, client, headers))
        if isinstance(response, StreamingResponse):
            await send_stream(scope, receive, send, response)
            return
        if not isinstance(response, Response):
            response = Response(_encode(response), b"application/json", route.status)
        await send_response(scope, send, response)

    def _route(self, method: str) -> Route:
        route = self._routes.get(method)
        if route is None:
            allowed = ", ".join(self._routes)
            detail = f"method {method} is not allowed for this path; use {allowed}"
            raise Problem("wrong-method", detail, value=method, headers=((b"allow", allowed.encode()),))
        return route

    def _authenticate(
        self, needed: str, method: str, address: str, headers: Mapping[bytes, bytes], query: dict[str, Any]
    ) -> Key:
        try:
            return self.service.authentication.authenticate(
                needed, method, address, headers, key_in_url=query.pop("key", None)
            )
        except WrongKey:
            self._rate_limits.count_wrong_key(address)
            raise

    def _decoded(self, route: Route, headers: Mapping[bytes, bytes], raw: bytes) -> Any:
        """Decode a body and check it against the schema of a route."""
        if not raw and route.body_optional:
            return route.body()
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        if media_type not in route.media_types:
            expected = " or ".join(route.media_types)
            detail = f"unsupported Content-Type {media_type[:200]!r}; send {expected}"
            raise Problem("wrong-media-type", detail, value=media_type[:200])
        decoder = self._decoders.get(route.method)
        if decoder is None:
            return raw
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            message, _, at = str(error).partition(" - at `")
            raise Problem("bad-value", message, at=at.rstrip("`") or "$") from None
        except (msgspec.DecodeError, UnicodeError) as error:
            reason = str(error).removeprefix("JSON is malformed: ")
            raise Problem("bad-request", f"the body is not valid JSON: {reason}") from None
        except RecursionError:
            raise Problem("too-deep", "the JSON body has too many nested levels; no valid body needs them") from None
