"""Real servers on a real socket that behave in every way a server should not, and one that does."""

import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

DUEL = {
    "duel": "1-1",
    "first": "ltr",
    "second": "neural",
    "seed": 7,
    "expires": 2e9,
    "ticket": "signed",
    "serve": "duel",
    "why": None,
    "interleaving": "team_draft",
    "query_id": None,
}

Behaviour = Callable[["Server", socket.socket, str, bytes], None]  # the request's first line and its body


class Server:
    """A server that answers each request as `behaves` says, and remembers what it was sent."""

    def __init__(self, behaves: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.behaves = behaves
        self._tls = tls
        self.requests: list[tuple[str, bytes]] = []
        self.heads: list[bytes] = []
        self.connections = 0
        self.ended = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}" if tls is None else f"https://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while line := stream.readline():
                    head, length = line, 0
                    while (header := stream.readline()).strip():
                        head += header
                        name, _, value = header.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                    body = stream.read(length)
                    self.heads.append(head)
                    self.requests.append((line.decode().rpartition(" ")[0], body))
                    self.behaves(self, connection, self.requests[-1][0], body)
        except (OSError, ValueError):
            pass

    def close(self) -> None:
        """Let everybody go."""
        self.ended.set()
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(behaves: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server, for a while."""
    server = Server(behaves, tls)
    try:
        yield server
    finally:
        server.close()


def answer(connection: socket.socket, value: Any, status: int = 200, headers: str = "") -> None:
    """A sound answer."""
    text = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} Words\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n{headers}\r\n"
    connection.sendall(head.encode() + text)


def well(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """As the service: a duel for an ask, a receipt for each tell, a status for each page and event."""
    if line.endswith("/tell"):
        answer(connection, {"receipts": [{"status": "accepted", "outcome": "first"} for _ in json.loads(body)]})
    elif line.endswith("/show") or "/v1/events" in line:
        answer(connection, {"statuses": ["accepted" for _ in json.loads(body)], "errors": []})
    else:
        answer(connection, DUEL)


def status(number: int, headers: str = "") -> Behaviour:
    """Always the same status."""
    return lambda server, connection, line, body: answer(connection, {"title": "no"}, number, headers)


def text(content: bytes) -> Behaviour:
    """Always the same bytes, and then the end."""

    def send(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_RDWR)

    return send


def told(value: object) -> Behaviour:
    """Always the same JSON."""
    return lambda server, connection, line, body: answer(connection, value)


def hangs(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Takes the request, and never answers."""
    server.ended.wait()


def resets(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Cuts the connection, rudely."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())  # a reader still holds the object


def closes(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Ends the connection, politely, without a word."""
    connection.shutdown(socket.SHUT_RDWR)


def slow(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """A sound answer, byte by byte: no single byte is late."""
    text = json.dumps(DUEL).encode()
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text:
        connection.sendall(bytes([byte]))
        time.sleep(0.005)


def slow_header(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Headers without end, each in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not server.ended.is_set():
        connection.sendall(b"X: y\r\n")
        time.sleep(0.004)


def goes_on(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """100 Continue, for ever."""
    while not server.ended.is_set():
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def huge(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """A gigabyte."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    while not server.ended.is_set():
        connection.sendall(b" " * 65536)


def huge_chunks(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """The same in chunks, which say nothing of how many there will be."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not server.ended.is_set():
        connection.sendall(b"1000\r\n" + b" " * 0x1000 + b"\r\n")


def half(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Half an answer, and then nothing more."""
    text = json.dumps(DUEL).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text[: len(text) // 2])
    server.ended.wait()
