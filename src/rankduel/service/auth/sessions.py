"""Sessions of the dashboard: who has shown a key once need not show it again for some hours.

A session is a signed cookie and nothing is stored, so that it outlives the server. It ends with its time, and with its
key. Scripts cannot read the cookie, pages of other sites cannot send it, and what changes something needs a second
token that only pages of this server can know.
"""

import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256
from time import time as now

from rankduel.service.auth.keys import Key, KeyRing
from rankduel.service.http.problems import Problem

__all__ = ["Sessions"]

_NAME = "rankduel_session"
_COOKIE = f"{_NAME}=".encode()
_TOKEN = b"x-rankduel-token"
_READING = ("GET", "HEAD")


class Sessions:
    """Makes and reads the cookies, with the secret of a storage.

    >>> sessions = Sessions(b"secret", 60)
    >>> key = Key("a1", "ann", ("read",), "")
    >>> cookie = sessions.begin(key, secure=False)
    >>> cookie.partition(b"=")[0], cookie.partition(b"; ")[2]
    (b'rankduel_session', b'Path=/; Max-Age=60; HttpOnly; SameSite=Strict')
    """

    def __init__(self, secret: bytes, seconds: float) -> None:
        self._secret = secret
        self.seconds = seconds

    def begin(self, key: Key, *, secure: bool) -> bytes:
        """The cookie of a new session, as a header."""
        told = f"{key.id}.{now() + self.seconds:.0f}.{secrets.token_hex(12)}"
        return self._header(f"{told}.{self._signed('session', told)}", self.seconds, secure=secure)

    def end(self) -> bytes:
        """The header that ends any session."""
        return self._header("", 0)

    def token_of(self, key: Key) -> str:
        """What a page of this server sends along with a change; it is the same for all sessions of a key."""
        return self._signed("token", key.id)

    def key_of(self, headers: Mapping[bytes, bytes], method: str, key_ring: KeyRing) -> Key | None:
        """The key of a request's session; None without a cookie of ours."""
        cookie = _own_cookie(headers[b"cookie"])
        if cookie is None:
            return None
        told, _, signature = cookie.rpartition(".")
        id, expires, _ = [*told.split("."), "", ""][:3]
        key = key_ring.known(id)
        right = hmac.compare_digest(signature.encode(), self._signed("session", told).encode())
        if not right or key is None or not now() < float(expires):
            raise Problem("session-over", "it has ended, or its key was revoked")
        if method not in _READING:
            given = headers.get(_TOKEN, b"")
            if not hmac.compare_digest(given, self.token_of(key).encode()):
                raise Problem("cross-site", f"a change needs the header {_TOKEN.decode()}")
        return key

    def _signed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose} {text}".encode(), sha256).hexdigest()

    def _header(self, value: str, seconds: float, *, secure: bool = False) -> bytes:
        header = f"{_NAME}={value}; Path=/; Max-Age={seconds:.0f}; HttpOnly; SameSite=Strict"
        return (header + "; Secure" * secure).encode()


def _own_cookie(header: bytes) -> str | None:
    """The value of our cookie among others, in linear time.

    >>> _own_cookie(b"theme=dark; rankduel_session=a.1.b.c; x=y"), _own_cookie(b"x_rankduel_session=a")
    ('a.1.b.c', None)
    """
    for cookie in map(bytes.strip, header.split(b";")):
        if cookie.startswith(_COOKIE):
            return cookie[len(_COOKIE) :].decode("latin-1")
    return None
