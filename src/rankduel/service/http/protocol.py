"""HTTP/1.1 by uvicorn and httptools, with a bound on everything that a client may leave unfinished.

A connection is closed when a head is too large or too slow, when a request is answered before its whole body has come,
and when the client does not read its answers. Bodies have the deadline of their request, which `door` keeps.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rankduel.service.http.limits import Connections

__all__ = ["HEAD_BYTES", "GuardedProtocol"]

HEAD_BYTES = 32_768  # of a request line with its headers, and of whatever else is not a body: chunk sizes, trailers
HEAD_SECONDS = 10.0  # to send a head, from the connection or its first byte on
WRITE_SECONDS = 30.0  # to read an answer that does not fit into the buffers of the network, and
WRITE_BYTES_PER_SECOND = 10_000  # more time for a large one: so many bytes of it must be read a second
_COALESCED_BYTES = 4096  # head and body of a small answer go to the network in one write
_PIPELINED_REQUESTS = 100  # that wait for the answer to one before them
_PARSED_BYTES = 4096  # at once: a head that begins in the middle of them is counted from their end on
_TOO_LARGE = b"431 Request Header Fields Too Large"
_TOO_MANY = b"503 Service Unavailable\r\nretry-after: 5"


class GuardedProtocol(HttpToolsProtocol):
    """A connection that its client cannot hold without end."""

    def __init__(self, *given: Any, connections: Connections, **named: Any) -> None:
        super().__init__(*given, **named)
        self._open_connections = connections
        self._address = ""
        self._bytes_left = HEAD_BYTES  # until a head must be whole, or a part of a body must have come
        self._keep_alive = True  # what the last request wants, once it is whole
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection if there are not too many, and wait a short time for a request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_COALESCED_BYTES)  # what exceeds this is timed
        self._address = self.client[0] if self.client else ""
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close)
        if not self._open_connections.add(self._address):
            self._answer_and_close(_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers, however it ended."""
        self._open_connections.remove(self._address)
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse some bytes, and see whether a head is too large or has just begun."""
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
                self._answer_and_close(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Start the request. Until its body is whole, an answer to it closes the connection."""
        self._stop_head_timer()
        self._bytes_left = HEAD_BYTES
        super().on_headers_complete()
        self._keep_alive = self.cycle.keep_alive and not self.parser.should_upgrade()
        self.cycle.keep_alive = False
        if len(self.pipeline) > _PIPELINED_REQUESTS:
            self._close()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._bytes_left = HEAD_BYTES
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Allow another request after this one, which is whole."""
        self._bytes_left = HEAD_BYTES
        super().on_message_complete()
        if not self.cycle.response_started:
            self.cycle.keep_alive = self._keep_alive

    # Writing

    def pause_writing(self) -> None:
        """Give the client time to read what the network has not taken."""
        super().pause_writing()
        self._start_write_timer()

    def resume_writing(self) -> None:
        """Go on: everything was taken."""
        self._stop_write_timer()
        super().resume_writing()

    def _answer_and_close(self, status: bytes) -> None:
        """Say why, unless an answer to an earlier request is still to come."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status)
        self._close()

    # The end

    def on_response_complete(self) -> None:
        """If this answer closes the connection, give the client a bounded time to read it."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._start_write_timer()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long."""
        self._close()

    def _close(self) -> None:
        """Close, when the rest of the last answer is sent; a client that does not read it is cut off."""
        self.transport.close()
        self._start_write_timer()

    def shutdown(self) -> None:
        """End an answer that would go on, because the server ends."""
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
