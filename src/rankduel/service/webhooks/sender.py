"""Send one request, signed by the scheme of Standard Webhooks, https://www.standardwebhooks.com."""

import base64
import hmac
import http.client
import socket
import ssl
import threading
from contextlib import suppress
from time import monotonic, time
from typing import NamedTuple
from urllib.parse import urlsplit

from rankduel.service.webhooks.settings import WebhookSettings

__all__ = ["Response", "Sender", "signature"]

TIMEOUT_SECONDS = 10.0  # of a whole request
_MAX_RETRY_AFTER_SECONDS = 3600.0


class Response(NamedTuple):
    """The response to a request. `problem` is None if the receiver has accepted it."""

    problem: str | None
    retry_after: float = 0.0  # seconds that the receiver asks for


def signature(secret: bytes, id: str, timestamp: int, body: bytes) -> str:
    """Return the header `webhook-signature`.

    >>> signature(b"0123456789abcdef01234567", "msg_1", 1700000000, b"{}")
    'v1,DjijpYnPcWcWSiPdvC93sCoKwGNWcH97A32JApk39OU='
    """
    signed = b"%s.%d.%s" % (id.encode(), timestamp, body)
    return f"v1,{base64.b64encode(hmac.new(secret, signed, 'sha256').digest()).decode()}"


class Sender:
    """Sends requests to the URL of a webhook, one at a time. It follows no redirect and uses no proxy."""

    def __init__(self, hook: WebhookSettings) -> None:
        self._parts = urlsplit(hook.url)
        self._secret = hook.secret()
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None
        self._socket: socket.socket | None = None  # of the current request
        self._aborted = False

    def send(self, id: str, body: bytes) -> Response:
        """Send a message. Return within about ten seconds."""
        connection = self._connection()
        timer = threading.Timer(TIMEOUT_SECONDS, self._cut)
        timer.daemon = True
        timer.start()
        began = monotonic()
        try:
            connection.connect()
            self._socket = connection.sock
            if self._aborted:
                return Response("the service is stopping")
            path = self._parts.path or "/"
            connection.request(
                "POST", f"{path}?{self._parts.query}" if self._parts.query else path, body, self._headers(id, body)
            )
            response = _judged(connection.getresponse())
        except (OSError, http.client.HTTPException) as error:  # also certificates and timeouts
            response = Response(_reason(error))
        finally:
            timer.cancel()
            self._socket = None
            connection.close()
        late = monotonic() - began >= TIMEOUT_SECONDS  # then the response is cut, too
        return Response(f"no response within {TIMEOUT_SECONDS:g} s") if late else response

    def abort(self) -> None:
        """End the current request, and refuse further ones."""
        self._aborted = True
        self._cut()

    def _cut(self) -> None:
        if (used := self._socket) is not None:
            with suppress(OSError):  # it is closed already
                socket.socket.shutdown(used, socket.SHUT_RDWR)  # wakes the thread that reads from it

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls is not None:
            return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_SECONDS, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)

    def _headers(self, id: str, body: bytes) -> dict[str, str]:
        timestamp = int(time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "rankduel",
            "Connection": "close",
            "webhook-id": id,
            "webhook-timestamp": str(timestamp),
        }
        if self._secret is not None:
            headers["webhook-signature"] = signature(self._secret, id, timestamp, body)
        return headers


def _judged(response: http.client.HTTPResponse) -> Response:
    if 200 <= response.status < 300:
        return Response(None)
    redirect = ", a redirect, which is not followed" if 300 <= response.status < 400 else ""
    asked = response.getheader("Retry-After", "")
    seconds = min(_MAX_RETRY_AFTER_SECONDS, float(asked)) if asked.isascii() and asked.isdigit() else 0.0
    return Response(f"status {response.status}{redirect}", seconds)


def _reason(error: Exception) -> str:
    """Return what went wrong, without the URL."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate not accepted: {error.verify_message}"
    return (error.strerror if isinstance(error, OSError) else None) or repr(error)[:200]
