"""Authentication: find the API key of a request and check its scope.

A client sends a key in the Authorization header, in the session cookie of the dashboard or, for public keys only, in
the URL. Until the first key is created, requests from this machine need no key.

`keys.py` compares the secret of a key, `sessions.py` checks the cookie. `http/endpoint.py` calls this module for each
route that has a scope. During a live stream, `_changes` in routes/browser.py checks again that the key is not revoked.
"""

from collections.abc import Mapping

from rankduel.service.addresses import is_loopback
from rankduel.service.auth.keys import LOOPBACK, ApiKeys, Key
from rankduel.service.auth.sessions import Sessions
from rankduel.service.problems import Headers, Problem

__all__ = ["Authentication", "WrongKey"]

_CHALLENGE: Headers = ((b"www-authenticate", b'Bearer realm="rankduel"'),)
_PROXY_HEADERS = frozenset(  # added by proxies, load balancers and CDNs
    b"cdn-loop client-ip fastly-client-ip fly-client-ip forwarded proxy-client-ip "
    b"true-client-ip via wl-proxy-client-ip x-client-ip x-cluster-client-ip x-host x-http-via x-proxyuser-ip x-real-ip "
    b"x-remote-addr x-remote-ip x-true-client-ip".split()
)
_PROXY_HEADER_PREFIXES = (b"x-forwarded", b"x-envoy-", b"x-original-", b"x-amzn-", b"x-azure-", b"x-appengine-", b"cf-")


class WrongKey(Problem):
    """Unknown or revoked API key. Such requests have a separate rate limit."""

    def __init__(self) -> None:
        detail = "the API key does not exist or was revoked; create one with `rankduel keys create`"
        super().__init__("wrong-key", detail, headers=_CHALLENGE)


class Authentication:
    """Authenticates requests by API key or login session. `api_keys` is replaced when keys change."""

    def __init__(self, api_keys: ApiKeys, sessions: Sessions) -> None:
        self.api_keys, self.sessions = api_keys, sessions

    def authenticate(
        self, scope: str, method: str, address: str, headers: Mapping[bytes, bytes], *, key_in_url: str | None = None
    ) -> Key:
        """Return the key of a request. Raise a Problem if there is no valid key, or if the key lacks the scope."""
        if not self.api_keys.required:
            _check_local(address, headers)
            return LOOPBACK
        key = None
        if b"cookie" in headers and b"authorization" not in headers and key_in_url is None:
            key = self.sessions.key_of(headers, method, self.api_keys)
        if key is None:
            key = self._sent_key(headers, key_in_url)
        if not key.may(scope):
            detail = f"this route needs the scope {scope}, the API key has {', '.join(key.scopes)}; use another key"
            raise Problem("wrong-scope", detail, value=list(key.scopes))
        return key

    def _sent_key(self, headers: Mapping[bytes, bytes], key_in_url: str | None) -> Key:
        """Return the key in the URL or in the Authorization header."""
        text = key_in_url
        if text is None:
            scheme, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
            if scheme.lower() != "bearer":
                text = ""
        if not text:
            raise Problem("no-key", "send an API key in the header `Authorization: Bearer rd_...`", headers=_CHALLENGE)
        key = self.api_keys.verify(text.strip())
        if key is None:
            raise WrongKey
        if key_in_url is not None and not key.is_public:
            detail = "an API key in a URL must have only the scope ingest; send this key in the Authorization header"
            raise Problem("wrong-scope", detail, value=list(key.scopes))
        return key


def _check_local(address: str, headers: Mapping[bytes, bytes]) -> None:
    """Without keys, accept only direct requests from this machine: no proxies, and no pages of other sites."""
    if (
        not is_loopback(address)
        or not _PROXY_HEADERS.isdisjoint(headers)
        or any(name.startswith(_PROXY_HEADER_PREFIXES) for name in headers)
    ):
        detail = "until a key is created, only direct requests from this machine work; run `rankduel keys create`"
        raise Problem("no-key", detail, headers=_CHALLENGE)
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"none")
    if site not in (b"none", b"same-origin") or (
        origin is not None and origin.partition(b"://")[2] != headers.get(b"host")
    ):
        detail = "until a key is created, pages of other sites have no access; run `rankduel keys create`"
        raise Problem("cross-site", detail, value=(origin or site).decode("latin-1")[:200])
