"""Login sessions of the dashboard: a signed cookie represents an API key for some hours.

Nothing is stored, so sessions survive a restart of the server. A session ends when it expires or when its key is
revoked. Scripts cannot read the cookie and other sites cannot send it. Requests that change something also need a CSRF
token, which only pages of this server can read.
"""

import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256
from time import time as now

from rankduel.service.auth.keys import ApiKeys, Key
from rankduel.service.problems import Problem

__all__ = ["Sessions"]

_NAME = "rankduel_session"
_COOKIE = f"{_NAME}=".encode()
_TOKEN_HEADER = b"x-rankduel-token"
_SAFE_METHODS = ("GET", "HEAD")


class Sessions:
    """Issues and verifies session cookies, signed with the secret of a storage.

    >>> sessions = Sessions(b"secret", 60)
    >>> key = Key("a1", "ann", ("read",), "")
    >>> cookie = sessions.new_cookie(key, secure=False)
    >>> cookie.partition(b"=")[0], cookie.partition(b"; ")[2]
    (b'rankduel_session', b'Path=/; Max-Age=60; HttpOnly; SameSite=Strict')
    """

    def __init__(self, secret: bytes, seconds: float) -> None:
        self._secret = secret
        self.seconds = seconds

    def new_cookie(self, key: Key, *, secure: bool) -> bytes:
        """Return a Set-Cookie header that starts a session."""
        claims = f"{key.id}.{now() + self.seconds:.0f}.{secrets.token_hex(12)}"
        return self._header(f"{claims}.{self._signature('session', claims)}", self.seconds, secure=secure)

    def expired_cookie(self, *, secure: bool) -> bytes:
        """Return a Set-Cookie header that ends the session."""
        return self._header("", 0, secure=secure)

    def csrf_token(self, key: Key) -> str:
        """Return the CSRF token that pages of this server send with changes. All sessions of a key share it."""
        return self._signature("token", key.id)

    def key_of(self, headers: Mapping[bytes, bytes], method: str, api_keys: ApiKeys) -> Key | None:
        """Return the key of the session in a Cookie header, or None if there is no session cookie.

        Raise a Problem if the session has expired, or if a change lacks the CSRF token.
        """
        cookie = _session_cookie(headers[b"cookie"])
        if cookie is None:
            return None
        claims, _, signature = cookie.rpartition(".")
        id, expires, _ = [*claims.split("."), "", ""][:3]
        key = api_keys.by_id(id)
        authentic = hmac.compare_digest(signature.encode(), self._signature("session", claims).encode())
        if not authentic or key is None or not now() < float(expires):
            raise Problem("session-over", "the session has expired or its API key was revoked; sign in again")
        if method not in _SAFE_METHODS:
            token = headers.get(_TOKEN_HEADER, b"")
            if not hmac.compare_digest(token, self.csrf_token(key).encode()):
                header = _TOKEN_HEADER.decode()
                raise Problem("cross-site", f"send the token of GET /v1/session in the header {header}")
        return key

    def _signature(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose} {text}".encode(), sha256).hexdigest()

    def _header(self, value: str, seconds: float, *, secure: bool) -> bytes:
        header = f"{_NAME}={value}; Path=/; Max-Age={seconds:.0f}; HttpOnly; SameSite=Strict"
        return (header + "; Secure" * secure).encode()


def _session_cookie(header: bytes) -> str | None:
    """Find the session cookie in a Cookie header, in linear time.

    >>> _session_cookie(b"theme=dark; rankduel_session=a.1.b.c; x=y"), _session_cookie(b"x_rankduel_session=a")
    ('a.1.b.c', None)
    """
    for cookie in map(bytes.strip, header.split(b";")):
        if cookie.startswith(_COOKIE):
            return cookie[len(_COOKIE) :].decode("latin-1")
    return None
