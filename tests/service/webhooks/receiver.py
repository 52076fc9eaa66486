"""A receiver of webhooks: a real HTTP server in a thread, which answers as a test says."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "whsec_" + base64.b64encode(b"the secret of the receiver").decode()


@dataclass(frozen=True)
class Request:
    """What the receiver got."""

    path: str
    headers: dict[str, str]  # with names in lower case
    raw: bytes
    status: int  # that it was answered with

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def signed(self) -> bool:
        """Whether the signature is right, by the words of the specification."""
        stamp = self.headers["webhook-timestamp"]
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        digest = hmac.digest(key, f"{self.id}.{stamp}.".encode() + self.raw, "sha256")
        recent = abs(time.time() - int(stamp)) < 60
        return recent and self.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


class Receiver:
    """It answers each request with the next of `statuses`, then with 200; `answer` may do anything else before."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}  # of each answer
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda _: None
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.requests.append(Request(self.path, headers, raw, status))
                receiver.answer(self)
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # senders that are killed
        self.port: int = self.server.server_address[1]
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?x=1"

    @property
    def accepted(self) -> list[Any]:
        """The bodies of the requests that were answered with a status below 300."""
        return [request.body for request in self.requests if request.status < 300]

    @property
    def kinds(self) -> list[str]:
        """What the accepted requests are about."""
        return [body["type"].removeprefix("tournament.") for body in self.accepted]

    def wait(self, count: int, seconds: float = 30.0) -> list[Request]:
        """Wait for so many requests, and return all."""
        until(lambda: len(self.requests) >= count, seconds)
        return self.requests

    def hold_next(self) -> threading.Event:
        """Hold the next request for a minute. The event is set as soon as it is here."""
        held = threading.Event()

        def answer(_: BaseHTTPRequestHandler) -> None:
            if not held.is_set():
                held.set()
                time.sleep(60)

        self.answer = answer
        return held

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.close()


def until(happened: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something to happen."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
