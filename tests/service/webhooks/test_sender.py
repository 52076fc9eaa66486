"""Requests of webhooks: signed, without redirects, and with an end."""

import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from rankduel.service.webhooks import sender
from rankduel.service.webhooks.sender import Response, Sender
from rankduel.service.webhooks.settings import WebhookSettings
from service.webhooks.receiver import Receiver, receiving


def hook(url: str, format: str = "json") -> WebhookSettings:
    return WebhookSettings("ops", url, "HOOK_SECRET" if format == "json" else None, format=format)


def test_a_request_is_signed(receiver: Receiver) -> None:
    assert Sender(hook(receiver.url)).send("msg_1", b'{"a": 1}') == Response(None)
    (request,) = receiver.requests
    assert request.signed
    assert (request.path, request.id, request.raw) == ("/hook?x=1", "msg_1", b'{"a": 1}')
    assert request.headers["content-type"] == "application/json"
    assert Sender(hook(receiver.url, "slack")).send("msg_2", b"{}") == Response(None)
    assert "webhook-signature" not in receiver.requests[1].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    """Whoever can forge an answer of the receiver must not get the message."""
    with receiving() as other:
        receiver.statuses, receiver.headers = [status], {"Location": other.url}
        response = Sender(hook(receiver.url)).send("msg_1", b"{}")
        assert response.problem == f"status {status}, a redirect, which is not followed"
        assert other.requests == []


def test_statuses(receiver: Receiver) -> None:
    receiver.statuses, receiver.headers = [204, 400, 429, 503], {"Retry-After": "90000"}
    responses = [Sender(hook(receiver.url)).send("msg_1", b"{}") for _ in range(4)]
    assert responses == [
        Response(None),
        *(Response(f"status {status}", 3600.0) for status in (400, 429, 503)),
    ]
    for unusable in ("-1", "1e3", "Wed, 21 Oct 2026 07:28:00 GMT", "٣"):
        receiver.statuses, receiver.headers = [503], {"Retry-After": unusable.encode("utf-8").decode("latin-1")}
        assert Sender(hook(receiver.url)).send("msg_1", b"{}") == Response("status 503")


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Answer without end, so that no single read takes long."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(1000):
        handler.wfile.write(b"x")
        time.sleep(0.01)


@pytest.mark.parametrize("answer", [drip, lambda _: time.sleep(5)], ids=["drip", "silence"])
def test_a_slow_receiver(receiver: Receiver, monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    monkeypatch.setattr(sender, "TIMEOUT_SECONDS", 0.3)
    receiver.answer = answer  # type: ignore[assignment]
    began = time.monotonic()
    assert Sender(hook(receiver.url)).send("msg_1", b"{}").problem == "no response within 0.3 s"
    assert time.monotonic() - began < 3  # where the receiver takes 5 or 10


def test_a_request_is_aborted(receiver: Receiver) -> None:
    receiver.answer = lambda _: time.sleep(5)
    used, problems = Sender(hook(receiver.url)), []
    thread = threading.Thread(target=lambda: problems.append(used.send("msg_1", b"{}").problem))
    thread.start()
    receiver.wait(1)
    used.abort()
    thread.join(3)
    assert len(problems) == 1
    assert used.send("msg_2", b"{}").problem == "the service is stopping"
    assert len(receiver.requests) == 1


def test_nobody_listens_or_it_is_no_http(receiver: Receiver) -> None:
    def greet(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"hello\r\n\r\n")

    receiver.answer = greet
    assert "BadStatusLine" in (Sender(hook(receiver.url)).send("msg_1", b"{}").problem or "")
    receiver.close()
    assert Sender(hook(receiver.url)).send("msg_1", b"{}").problem == "Connection refused"
    problem = Sender(hook("https://no-such-host.invalid/secret")).send("msg_1", b"{}").problem or ""
    assert problem
    assert "secret" not in problem


def test_a_certificate_must_be_trusted(receiver: Receiver, tmp_path: Path) -> None:
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    made = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run([*made, *names, *files], check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    url = f"https://127.0.0.1:{receiver.port}/"
    problem = Sender(hook(url)).send("msg_1", b"{}").problem or ""
    assert problem.startswith("certificate not accepted: self-signed certificate")
    assert receiver.requests == []
    trusting = Sender(hook(url))
    assert trusting._tls is not None
    trusting._tls.load_verify_locations(tmp_path / "cert.pem")
    assert trusting.send("msg_1", b"{}") == Response(None)
    assert receiver.requests[0].signed
