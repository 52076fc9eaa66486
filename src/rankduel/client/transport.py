"""HTTP transport with deadlines: every request ends by its deadline, whatever the server, the network or DNS do."""

import http.client
import io
import json
import select
import socket
import ssl
import weakref
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from rankduel.client.addresses import Addresses
from rankduel.client.response import Answer, Failure

__all__ = ["Transport"]

_MAX_IDLE_CONNECTIONS = 32
_MAX_ANSWER_BYTES = 1 << 20  # longer responses are an error
_MAX_HEAD_BYTES = 8 << 10  # status and headers: 64 kB can take 0.1 s to parse, and a deadline cannot interrupt parsing
_BUFFER_BYTES = 2048  # per read: enough for a duel; small, because the deadline is checked between reads
_MAX_RETRY_AFTER_SECONDS = 60.0  # the longest pause that a server may ask for
_CLOSED_WHILE_IDLE = (ConnectionError, http.client.RemoteDisconnected)


class Transport:
    """Requests to one service over a pool of keep-alive connections. Thread-safe.

    `url` is the address of the service, `https://host:8080`, perhaps with a path prefix before `/v1`. `call` raises
    only `Failure`.
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        scheme, host, port, prefix = _parsed(url)
        self.url = url
        self._prefix = prefix
        self._addresses = Addresses(host, port)
        self._host = host
        self._tls = ssl.create_default_context() if scheme == "https" else None
        literal = f"[{host}]" if ":" in host else host
        self._head = f"Host: {literal}:{port}\r\nAccept: application/json\r\nUser-Agent: rankduel\r\n"
        if key is not None:
            self._head += f"Authorization: Bearer {_checked_key(key)}\r\n"
        self._idle: list[_Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def call(
        self,
        verb: str,
        path: str,
        body: bytes | None = None,
        *,
        due: float,
        kind: str = "application/json",
        largest: int = _MAX_ANSWER_BYTES,
        once: bool = False,
    ) -> Answer:
        """Send a request and return its response, before `due` on the clock of `monotonic`.

        If the server has closed an idle connection, the request is sent again on another one. With `once`, the request
        uses a new connection and is never sent twice.
        """
        request = f"{verb} {self._prefix}{path} HTTP/1.1\r\n{self._head}"
        if body is not None:
            request += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        sent = f"{request}\r\n".encode("latin-1") + (body or b"")
        try:
            while True:
                connection = None if once else self._kept()
                if connection is None:
                    return self._exchange(self._connected(due), verb, sent, due, largest)
                try:
                    return self._exchange(connection, verb, sent, due, largest)
                except _CLOSED_WHILE_IDLE:
                    continue  # no response yet: the server closed the connection while it was idle
        except TimeoutError as error:
            raise Failure("no response before the deadline", "no-response") from error
        except Exception as error:
            raise Failure(f"{type(error).__name__}: {error}", _kind_of(error)) from error

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle)

    def forked(self) -> None:
        """Start afresh in a child process: the connections belong to the parent."""
        self.close()
        self._addresses.forked()

    def _exchange(self, connection: "_Connection", verb: str, sent: bytes, due: float, largest: int) -> Answer:
        try:
            answer = connection.exchange(verb, sent, due, largest)
        except BaseException:
            connection.close()
            raise
        if connection.reusable and len(self._idle) < _MAX_IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def _kept(self) -> "_Connection | None":
        """Take the most recently used idle connection that is still open; None if there is none."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.quiet():
                return connection
            connection.close()

    def _connected(self, due: float) -> "_Connection":
        """Open a connection to the first address that accepts one."""
        addresses = self._addresses.known(due)
        failure: OSError = TimeoutError()
        for tried, (family, address) in enumerate(addresses):
            left = due - monotonic()
            if left <= 0:
                raise TimeoutError
            connection = socket.socket(family, socket.SOCK_STREAM)
            try:
                connection.settimeout(left / (len(addresses) - tried))  # a silent address leaves time for the others
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.connect(address)
                if self._tls is not None:
                    connection.settimeout(_left(due))
                    connection = self._tls.wrap_socket(connection, server_hostname=self._host)
            except OSError as error:
                connection.close()
                failure = error
                continue
            except BaseException:
                connection.close()
                raise
            self._addresses.prefer(family, address)
            return _Connection(connection)
        self._addresses.failed()
        raise failure


class _Connection:
    """A connection, used by one request at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self.reusable = False
        self._connection = connection
        self._due = 0.0
        self._allowed = 0  # bytes that may still be read
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def exchange(self, verb: str, sent: bytes, due: float, largest: int) -> Answer:
        """Send a request and read its response."""
        self._due, self.reusable = due, False
        left = memoryview(sent)
        while left:  # with TLS, `sendall` would apply the whole timeout to each record
            left = left[self._arm().send(left) :]
        self._allowed = _MAX_HEAD_BYTES
        response = http.client.HTTPResponse(self, method=verb)  # type: ignore[arg-type] # needs only makefile
        response.begin()
        self._allowed += largest
        text = response.read(largest + 1)
        if len(text) > largest:
            raise ValueError(f"the response has more than {largest} bytes")
        if response.length:
            raise ValueError(f"the response ended {response.length} bytes too early")
        retry_after = _pause(response.headers.get("Retry-After"))
        answer = Answer(response.status, _decoded(text, response.status), retry_after)
        self.reusable = not response.will_close
        return answer

    def quiet(self) -> bool:
        """Whether an idle connection is usable: the server has neither closed it nor sent unexpected bytes."""
        return not self._poll.poll(0)

    def receive(self, buffer: Any) -> int:
        """Read some bytes of the response, within the limits on time and size."""
        received = self._arm().recv_into(buffer)
        self._allowed -= received
        if self._allowed < 0:
            raise ValueError("the response is too long")
        return received

    def _arm(self) -> socket.socket:
        """Set the timeout of the socket to the time that is left, and return it."""
        self._connection.settimeout(_left(self._due))
        return self._connection

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return the file that HTTPResponse reads from."""
        return io.BufferedReader(_Reader(self), _BUFFER_BYTES)

    def close(self) -> None:
        self._connection.close()


class _Reader(io.RawIOBase):
    """The incoming bytes. The deadline covers all reads together, so a server that sends slowly cannot extend it."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive(buffer)


def _close_all(connections: list[_Connection]) -> None:
    while connections:
        connections.pop().close()


def _left(due: float) -> float:
    left = due - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _decoded(text: bytes, status: int) -> Any:
    """Decode a body. Errors may come from a proxy, without JSON: then the status says enough."""
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if status < 300:
            raise
        return None


def _kind_of(error: Exception) -> str:
    """Return the kind of problem of a request without a valid response."""
    kinds = {socket.gaierror: "unknown-host", ssl.SSLError: "tls", OSError: "unreachable"}  # subclasses first
    return next((kind for type, kind in kinds.items() if isinstance(error, type)), "invalid-response")


def _pause(text: str | None) -> float | None:
    """Parse a Retry-After header in seconds. A header with a date is ignored."""
    return (
        min(float(text), _MAX_RETRY_AFTER_SECONDS) if text is not None and text.isascii() and text.isdecimal() else None
    )


def _parsed(url: str) -> tuple[str, str, int, str]:
    if not isinstance(url, str):
        raise TypeError(f"url must be http://HOST:PORT or https://HOST, got {url!r}")
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
        sound = scheme in ("http", "https") and host and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        sound = False
    if not sound or host is None or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(f"url must be http://HOST:PORT or https://HOST, got {url!r}")
    return scheme, host, port or (443 if scheme == "https" else 80), parts.path.rstrip("/")


def _checked_key(key: str) -> str:
    if not isinstance(key, str):
        raise TypeError("key must be a string")
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("key must be printable ASCII without spaces")  # the message must not show the key
    return key
