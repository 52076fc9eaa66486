"""HTTP/1.1 protocol on uvicorn and httptools, with limits against slow clients.

The server closes a connection when the headers of a request are too large or too slow, when it has answered a request
before the whole body arrived, and when the client does not read responses. The deadline of `gateway` covers bodies.
"""

import asyncio
from typing import Any

from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from rankduel.service.http.connection_limits import Connections

__all__ = ["HEAD_BYTES", "GuardedProtocol"]

HEAD_BYTES = 32_768  # of a request line with its headers, and of chunk sizes and trailers
HEAD_SECONDS = 10.0  # to send the headers, from the start of the connection or their first byte
WRITE_SECONDS = 30.0  # to read a response that does not fit into the network buffers,
WRITE_BYTES_PER_SECOND = 10_000  # with more time for large responses
_COALESCED_BYTES = 4096  # a small response goes to the network in one write
_MAX_PIPELINED_REQUESTS = 100  # that wait for an earlier response on the same connection
_PARSED_BYTES = 4096  # per step: headers that begin within a step are counted from its end
_TOO_LARGE = b"431 Request Header Fields Too Large"
_TOO_MANY = b"503 Service Unavailable\r\nretry-after: 5"


class GuardedProtocol(HttpToolsProtocol):
    """A connection that a client cannot hold open forever."""

    def __init__(self, *args: Any, connections: Connections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open_connections = connections
        self._address = ""
        self._bytes_left = HEAD_BYTES  # until the headers must be complete, or a part of the body must have arrived
        self._keep_alive = True  # as the last request asks, once it is complete
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection if it is within the limits, and start the timer for its first request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_COALESCED_BYTES)  # more than this starts the write timer
        self._address = self.client[0] if self.client else ""
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close)
        if not self._open_connections.add(self._address):
            self._reply_and_close(_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._open_connections.remove(self._address)
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse bytes, check the size of the headers, and start their timer when they begin."""
        if len(data) <= _PARSED_BYTES and len(data) < self._bytes_left:
            self._bytes_left -= len(data)
            super().data_received(data)
        else:
            self._parse_in_parts(memoryview(data))
        cycle = self.cycle
        if self._head_timer is None and (cycle is None or cycle.response_complete or cycle.scope is not self.scope):
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close)

    def _parse_in_parts(self, data: memoryview) -> None:
        while data and not self.transport.is_closing():
            part = data[: min(_PARSED_BYTES, self._bytes_left)]
            data = data[len(part) :]
            self._bytes_left -= len(part)
            super().data_received(part)  # type: ignore[arg-type]  # the parser takes any buffer
            if self._bytes_left == 0:
                self._reply_and_close(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Start the request. Until its body is complete, a response to it closes the connection."""
        self._stop_head_timer()
        self._bytes_left = HEAD_BYTES
        super().on_headers_complete()
        self._keep_alive = self.cycle.keep_alive and not self.parser.should_upgrade()
        self.cycle.keep_alive = False
        self.cycle.send = _Sender(self.cycle)  # type: ignore[assignment,method-assign]
        if len(self.pipeline) > _MAX_PIPELINED_REQUESTS:
            self._close()

    def on_body(self, body: bytes) -> None:
        """Accept a part of a body."""
        self._bytes_left = HEAD_BYTES
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Allow another request, since this one is complete."""
        self._bytes_left = HEAD_BYTES
        super().on_message_complete()
        if not self.cycle.response_started:
            self.cycle.keep_alive = self._keep_alive

    # Writing

    def pause_writing(self) -> None:
        """Start the write timer because the network buffers are full."""
        super().pause_writing()
        self._start_write_timer()

    def resume_writing(self) -> None:
        """Stop the write timer because everything was sent."""
        self._stop_write_timer()
        super().resume_writing()

    def _reply_and_close(self, status: bytes) -> None:
        """Send a status, unless the response to an earlier request is still pending, and close the connection."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status)
        self._close()

    # Closing

    def on_response_complete(self) -> None:
        """Limit the time to read a response that closes the connection."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._start_write_timer()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long."""
        self._close()

    def _close(self) -> None:
        """Close once the last response is sent, or when the write timer ends."""
        self.transport.close()
        self._start_write_timer()

    def shutdown(self) -> None:
        """End streaming responses when the server stops."""
        scope = getattr(self, "scope", None) or {}
        if (stop := scope.get("stop")) is not None:
            stop.set()
        self._keep_alive = False
        super().shutdown()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _start_write_timer(self) -> None:
        if self._write_timer is None and (unsent := self.transport.get_write_buffer_size()):
            seconds = WRITE_SECONDS + unsent / WRITE_BYTES_PER_SECOND
            self._write_timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class _Sender:
    """The ASGI `send` of one request: writes a complete response at once. uvicorn sends all other responses.

    uvicorn writes the headers and the body separately, and checks each header by two regular expressions.
    """

    __slots__ = ("_cycle", "_send", "_start")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._send = cycle.send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Keep the start of a response until its body is known."""
        if message["type"] == "http.response.start" and self._start is None:
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            head = self._head(start, message)
            if head is not None:
                await self._respond(head, message["body"])
                return
            await self._send(start)  # type: ignore[arg-type]
        await self._send(message)  # type: ignore[arg-type]

    def _head(self, start: Message, body: Message) -> bytes | None:
        """Return status line and headers of a complete response that keeps the connection open; None for others."""
        cycle, headers = self._cycle, [*self._cycle.default_headers, *start["headers"]]
        special = dict(headers)
        if (
            special.get(b"content-length") != b"%d" % len(body.get("body", b""))
            or body.get("more_body")
            or b"connection" in special
            or not cycle.keep_alive
            or cycle.response_started
            or cycle.scope["method"] == "HEAD"
        ):
            return None
        lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        if not lines.count(b"\r") == lines.count(b"\n") == len(headers):
            return None  # a line break within a header: uvicorn raises an error
        return b"%b%b\r\n" % (STATUS_LINE[start["status"]], lines)

    async def _respond(self, head: bytes, body: bytes) -> None:
        cycle = self._cycle
        if cycle.flow.write_paused and not cycle.disconnected:
            await cycle.flow.drain()
        if cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        cycle.transport.write(head + body)
        cycle.message_event.set()
        cycle.on_response()
