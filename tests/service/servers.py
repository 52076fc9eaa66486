"""A real server in a process of its own, and the plainest of clients."""

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

_SERVE = """
import json, resource, sys
from rankduel.service import serve
from rankduel.service.webhooks.settings import webhooks_from
settings = json.loads(sys.argv[2])
if sys.argv[3] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
serve(sys.argv[1], **settings | {"webhooks": webhooks_from(settings.get("webhooks", []))})
"""


def at(name: str, rest: str = "") -> str:
    """The path of a tournament, or of something in it."""
    return f"/v1/tournaments/{quote(name, safe='')}{rest}"


@dataclass
class Answer:
    """What a server has said."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def problem(self) -> str:
        """The type of a problem, without what all types begin with."""
        assert self.headers["content-type"] == "application/problem+json", self
        assert self.body["status"] == self.status
        return str(self.body["type"].removeprefix("/problems/"))


class Server:
    """A server on a free port; `lines` is its log. With `largest_file`, its disk is full at so many bytes."""

    def __init__(self, url: str, *, largest_file: int = 0, **settings: Any) -> None:
        command = [
            sys.executable,
            "-c",
            _SERVE,
            url,
            json.dumps({"port": 0, "create": True} | settings),
            str(largest_file),
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self._listening = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._listening.wait(60)
        listening = [json.loads(line) for line in self.lines if '"listening"' in line]
        self.port: int = listening[0]["port"] if listening else 0

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if '"listening"' in line:
                self._listening.set()
        self._listening.set()

    def stop(self) -> int:
        """Stop it gently; its exit code."""
        self.process.terminate()
        return self.wait()

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        code = self.process.wait(60)
        self._reader.join(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    @property
    def client(self) -> "Client":
        return Client(self.port)


@contextmanager
def serving(url: str, **settings: Any) -> Iterator[Server]:
    server = Server(url, **settings)
    try:
        assert server.port, server.lines
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


@dataclass
class Client:
    """One connection, and the headers that each request has."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    connection: http.client.HTTPConnection | None = None

    def with_key(self, key: str) -> "Client":
        return Client(self.port, self.headers | {"Authorization": f"Bearer {key}"})

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, *, raw: bool = False
    ) -> Answer:
        """One request; a body that is no bytes is sent as JSON."""
        sent = dict(self.headers)
        if body is not None and not raw:
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        sent |= headers or {}
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            self.connection.request(method, path, body, sent)
            got = self.connection.getresponse()
            answer = Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())
        except BaseException:
            self.close()
            raise
        if got.will_close:
            self.close()
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.send("POST", path, body)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
