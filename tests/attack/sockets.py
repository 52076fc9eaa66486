"""Raw sockets: packets as an attacker cuts them, and all that is answered."""

import socket
import time
from contextlib import closing

ASK = "/v1/tournaments/t/ask"
GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
POST = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()


def connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """What is answered until the server closes the connection; TimeoutError if it does not."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def one_answer(connection: socket.socket) -> bytes:
    """One answer, of a connection that may stay open."""
    answer = connection.recv(65_536)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65_536)
    head, _, body = answer.partition(b"\r\n\r\n")
    missing = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]) - len(body)
    while missing > 0:
        part = connection.recv(missing)
        answer, missing = answer + part, missing - len(part)
    return answer


def answered(port: int, *sent: bytes, pause: float = 0.0) -> bytes:
    """What is answered to some packets, after which nothing comes."""
    with closing(connected(port)) as connection:
        try:
            for packet in sent:
                connection.sendall(packet)
                time.sleep(pause)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed by the server before everything was sent
        return until_closed(connection)
