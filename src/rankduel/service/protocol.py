"""HTTP/1.1 by uvicorn and httptools, with an end to what a client may leave unfinished."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["GuardedProtocol"]

HEAD_BYTES = 32_768  # of the request line and headers together
HEAD_SECONDS = 10.0  # to send them, from the first connection or the first byte on


class GuardedProtocol(HttpToolsProtocol):
    """A connection whose client must send the head of a request in time, and not without end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for long."""
        super().connection_made(transport)
        self._head = 0  # bytes of a head that is not whole yet
        self._late: asyncio.TimerHandle | None = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers, however it ended."""
        self._in_time()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a head, or of a body."""
        self._head += len(data)
        super().data_received(data)
        if self._late is not None and self._head > HEAD_BYTES:
            self._give_up()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._head = 0
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def on_headers_complete(self) -> None:
        """Its head is whole: from here on the deadline of requests counts."""
        self._in_time()
        super().on_headers_complete()

    def shutdown(self) -> None:
        """The server ends: so does an answer that would go on."""
        scope = getattr(self, "scope", None) or {}
        if (stop := scope.get("stop")) is not None:
            stop.set()
        super().shutdown()

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.transport.close()
