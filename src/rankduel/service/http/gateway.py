"""The door: who comes in, how much they may bring, and what they are told when they may not."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from rankduel.service.auth.keys import ANYBODY, LOOPBACK, Key
from rankduel.service.http.limits import Buckets, Hosts, is_loopback, network_of
from rankduel.service.http.problems import Problem, problem_of, too_many_requests
from rankduel.service.http.routing import Call, Parameter, Plain, Request, Stream
from rankduel.service.service import Service

__all__ = ["Gateway", "Endpoint", "reply"]

_log = logging.getLogger("rankduel.service")
_access = logging.getLogger("rankduel.access")
_HEADERS = [  # of every answer
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
_CLOSE = ((b"connection", b"close"),)  # what a client still sends of such a request is not worth reading
_ONCE_NAMES = ("authorization", "content-length", "content-type", "host")  # of two of them, which one would count?
_ONCE = {name.encode() for name in _ONCE_NAMES}
_DRAIN_SECONDS = 1.0  # for the rest of the body of a request that is refused: then the connection is closed
_LONGEST_LENGTH = 15  # digits of a Content-Length
_PROXY_NAMES = frozenset(  # headers that a proxy, load balancer or CDN adds
    b"cdn-loop client-ip fastly-client-ip fly-client-ip forwarded proxy-client-ip "
    b"true-client-ip via wl-proxy-client-ip x-client-ip x-cluster-client-ip x-host x-http-via x-proxyuser-ip x-real-ip "
    b"x-remote-addr x-remote-ip x-true-client-ip".split()
)
_PROXY_PREFIXES = (b"x-forwarded", b"x-envoy-", b"x-original-", b"x-amzn-", b"x-azure-", b"x-appengine-", b"cf-")
_lines = Buckets(rate=1, burst=10)  # of the log, for each kind of problem: a broken disk shall not fill it, too
_encode = msgspec.json.Encoder().encode


class Gateway:
    """Everything comes through here, is answered in time, and never with a stack trace."""

    def __init__(self, service: Service, inside: ASGIApp) -> None:
        self.service, self.inside = service, inside
        self._hosts = Hosts(service.settings.names)
        self._deadline = service.settings.deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.inside(scope, receive, send)
            return
        started, metrics = perf_counter(), self.service.metrics
        metrics.in_flight += 1
        try:
            try:
                async with asyncio.timeout(self._deadline) as scope["deadline"]:
                    scope["fields"] = self._fields(scope["headers"])
                    scope["path"] = scope["raw_path"].decode("ascii")  # a name may have a slash, as %2F
                    await self.inside(scope, receive, send)
            except _Gone:
                return
            except TimeoutError:
                late = Problem("deadline", f"no answer within {self._deadline:g} s", headers=_CLOSE)
                await _refuse(scope, send, late)
            except Exception as error:
                problem = problem_of(error)
                if problem.headers is not _CLOSE and "status" not in scope:
                    await self._drain(scope, receive)
                await _refuse(scope, send, problem)
        finally:
            metrics.in_flight -= 1
            seconds = perf_counter() - started
            path, status = scope.get("declared", "other"), scope.get("status", 0)
            metrics.seen(scope["method"] if path != "other" else "other", path, status, seconds)
            if self.service.settings.access_log:
                told = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 6)}
                _access.info("request", extra=told)

    def _fields(self, headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
        """The headers by name. The host must be known: a page of another site whose name leads here has another one."""
        fields = {name: value.strip() for name, value in headers}
        host = fields.get(b"host", b"").decode("latin-1")
        if len(fields) < len(headers) and sum(name in _ONCE for name, _ in headers) > len(_ONCE & fields.keys()):
            raise Problem("bad-request", f"of {', '.join(_ONCE_NAMES)} there may be one each")
        if host not in self._hosts:
            raise Problem("bad-host", "the Host header names another server; settings have `hosts`", value=host[:200])
        return fields

    async def _drain(self, scope: Scope, receive: Receive) -> None:
        """Read what is left of a body, for a short time: a client that is still sending would not see the answer.

        If it has not ended by then, `GuardedProtocol` closes the connection after the answer.
        """
        if "body" in scope or any(name == b"expect" for name, _ in scope["headers"]):
            return
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while size <= self.service.settings.largest_body:
                    message = await receive()
                    if not message.get("more_body"):
                        return
                    size += len(message["body"])


class Endpoint:
    """All calls at one path: which one, may the client make it, and what does it get."""

    def __init__(self, service: Service, calls: Sequence[Call], buckets: Buckets, wrong: Buckets) -> None:
        self.service = service
        self.path = calls[0].path
        self._calls = {call.method: call for call in calls}
        if "GET" in self._calls:
            self._calls["HEAD"] = self._calls["GET"]
        self._decoders = {
            call.method: msgspec.json.Decoder(call.body) for call in calls if call.body not in (None, bytes)
        }
        self._buckets, self._wrong = buckets, wrong

    @property
    def methods(self) -> list[str]:
        """What may be done here."""
        return list(self._calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or raise why not."""
        scope["declared"] = self.path
        method = scope["method"]
        call = self._calls.get(method)
        if call is None:
            allowed = ", ".join(self._calls)
            raise Problem("wrong-method", f"expected {allowed}", value=method, headers=((b"allow", allowed.encode()),))
        headers: dict[bytes, bytes] = scope["fields"]
        query = {} if call.page else _query(call, scope["query_string"])
        key = ANYBODY if call.scope is None else self._let_in(scope, headers, call, query)
        path = {name: _text(value) if "%" in value else value for name, value in scope["path_params"].items()}
        body = None
        if call.body is not None:
            scope["body"] = raw = await self._read(receive, headers)
            body = self._decoded(call, headers, raw)
        secure = headers.get(b"x-forwarded-proto") == b"https"
        counted_as = scope.get("counted_as", "")
        answer = await call.run(Request(self.service, key, path, query, body, secure, self._buckets, counted_as))
        if isinstance(answer, Stream):
            await _stream(scope, receive, send, answer)
            return
        if not isinstance(answer, Plain):
            answer = Plain(_encode(answer), b"application/json", call.status)
        await reply(scope, send, answer)

    # Who

    def _let_in(self, scope: Scope, headers: Mapping[bytes, bytes], call: Call, query: dict[str, Any]) -> Key:
        """The key, if it may make this call."""
        address = scope["client"][0] if scope.get("client") else ""
        key_ring = self.service.key_ring
        in_address = query.pop("key", None)
        if not key_ring.made:
            self._check_local(address, headers)
            self._count(scope, network_of(address))
            return LOOPBACK
        if b"cookie" in headers and b"authorization" not in headers and in_address is None:
            signed_in = self.service.sessions.key_of(headers, scope["method"], key_ring)
            if signed_in is not None:
                return self._allow(scope, signed_in, call, signed_in.id)
        shown = headers.get(b"authorization", b"").decode("latin-1")
        scheme, _, text = shown.partition(" ")
        if in_address is not None:
            scheme, text = "bearer", in_address
        if scheme.lower() != "bearer" or not text:
            raise Problem("no-key", "send it as Authorization: Bearer rd_...", headers=_CHALLENGE)
        key = key_ring.find(text.strip())
        if key is None:
            if (wait := self._wrong.take(network_of(address))) > 0:
                raise too_many_requests(wait, "too-many-wrong-keys")
            raise Problem("wrong-key", "it is not known here, or was revoked", headers=_CHALLENGE)
        if in_address is not None and key.scopes != ("ingest",):
            raise Problem("wrong-scope", "a key in an address may have no scope but ingest", value=list(key.scopes))
        # An ingest key is public: one browser must not use up the rate of all others.
        public = key.scopes == ("ingest",)
        return self._allow(scope, key, call, f"{key.id} {network_of(address)}" if public else key.id)

    def _allow(self, scope: Scope, key: Key, call: Call, counted_as: str) -> Key:
        assert call.scope is not None
        if not key.may(call.scope):
            raise Problem("wrong-scope", f"this needs the scope {call.scope}", value=list(key.scopes))
        self._count(scope, counted_as)
        return key

    def _check_local(self, address: str, headers: Mapping[bytes, bytes]) -> None:
        """Without any key only this machine comes in, and not a page of another site in a browser on this machine."""
        if (
            not is_loopback(address)
            or not _PROXY_NAMES.isdisjoint(headers)
            or any(name.startswith(_PROXY_PREFIXES) for name in headers)
        ):
            raise Problem("no-key", "without a key only this machine may come in", headers=_CHALLENGE)
        origin = headers.get(b"origin")
        site = headers.get(b"sec-fetch-site", b"none")
        if site not in (b"none", b"same-origin") or (
            origin is not None and origin.partition(b"://")[2] != headers.get(b"host")
        ):
            raise Problem("cross-site", "make a key", value=(origin or site).decode("latin-1")[:200])

    def _count(self, scope: Scope, who: str) -> None:
        scope["counted_as"] = who
        if (wait := self._buckets.take(who)) > 0:
            raise too_many_requests(wait)

    # What

    async def _read(self, receive: Receive, headers: Mapping[bytes, bytes]) -> bytes:
        largest = self.service.settings.largest_body
        told = headers.get(b"content-length", b"0")
        if len(told) > _LONGEST_LENGTH or not told.isdigit() or int(told) > largest:
            raise _too_large(largest)
        message = await receive()
        parts: list[bytes] = []
        size = 0
        while True:
            if message["type"] == "http.disconnect":
                raise _Gone
            part = message.get("body", b"")
            size += len(part)
            if size > largest:
                raise _too_large(largest)
            if not message.get("more_body"):
                return part if not parts else b"".join((*parts, part))
            parts.append(part)
            message = await receive()

    def _decoded(self, call: Call, headers: Mapping[bytes, bytes], raw: bytes) -> Any:
        if not raw and call.optional:
            return call.body()
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        if media not in call.media:
            raise Problem("wrong-media-type", f"expected {' or '.join(call.media)}", value=media[:200])
        decoder = self._decoders.get(call.method)
        if decoder is None:
            return raw
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            message, _, at = str(error).partition(" - at `")
            raise Problem("bad-value", message, at=at.rstrip("`") or "$") from None
        except (msgspec.DecodeError, UnicodeError) as error:
            raise Problem("bad-request", str(error)) from None
        except RecursionError:
            raise Problem("too-deep", "a body of this service needs no such depth") from None


class _Gone(Exception):  # noqa: N818 - no error: the client has left
    pass


def _too_large(largest: int) -> Problem:
    return Problem("too-large", f"a body has at most {largest} bytes", headers=_CLOSE)


_CHALLENGE = ((b"www-authenticate", b'Bearer realm="rankduel"'),)


def _text(part: str) -> str:
    """A part of a path, as it was meant."""
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise Problem("bad-request", "a path must be UTF-8", value=part[:200]) from None


def _query(call: Call, raw: bytes) -> dict[str, Any]:
    """The parameters behind the ?."""
    values: dict[str, Any] = {known.name: known.default for known in call.parameters if known.default is not None}
    if not raw:
        return values
    parameters = {known.name: known for known in call.parameters}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise Problem("bad-request", "the query of the address cannot be read") from None
    for name, text in pairs:
        if name not in parameters:
            expected = ", ".join(parameters) or "none"
            raise Problem("bad-value", f"unknown parameter, expected {expected}", value=name[:200])
        values[name] = _value(parameters[name], text)
    return values


def _value(parameter: Parameter, text: str) -> Any:
    if parameter.default is None:
        if len(text) > parameter.most:
            raise Problem("bad-value", f"{parameter.name} has at most {parameter.most} characters", value=text[:200])
        return text
    if not (text.isascii() and text.isdecimal() and len(text) < 16 and parameter.least <= int(text) <= parameter.most):
        expected = f"a whole number from {parameter.least} to {parameter.most}"
        raise Problem("bad-value", f"{parameter.name} must be {expected}", value=text[:200])
    return int(text)


async def reply(scope: Scope, send: Send, answer: Plain, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """Send an answer as a whole."""
    scope["status"] = answer.status
    own = {name for name, _ in answer.headers}
    always = [header for header in _HEADERS if header[0] not in own] if own else _HEADERS
    length = (b"content-length", b"%d" % len(answer.text))
    headers = [(b"content-type", answer.media), length, *always, *answer.headers, *more]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.text})


async def _stream(scope: Scope, receive: Receive, send: Send, answer: Stream) -> None:
    """Send part by part, without a deadline; `GuardedProtocol` says when the server ends."""
    scope["deadline"].reschedule(None)
    scope["status"] = 200
    stop = scope["stop"] = asyncio.Event()
    leaving = asyncio.create_task(_left(receive, stop))
    try:
        headers = [(b"content-type", answer.media), *_HEADERS]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for part in answer.parts(stop):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        leaving.cancel()


async def _left(receive: Receive, stop: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stop.set()


async def _refuse(scope: Scope, send: Send, problem: Problem) -> None:
    if problem.kind.status >= 500 and _lines.take(problem.kind.name) == 0:
        told = {"path": scope.get("declared", "other"), "problem": problem.kind.name}
        _log.error("a request has failed", extra=told, exc_info=problem.__cause__)
    if "status" in scope:
        return  # the answer has begun: the server closes the connection
    answer = Plain(_encode(problem.body()), b"application/problem+json", problem.kind.status)
    await reply(scope, send, answer, problem.headers)
