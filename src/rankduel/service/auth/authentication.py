"""Authentication: which API key a request has, and whether the key has the scope that a route needs.

A key comes in the Authorization header, in the session cookie of the dashboard or, for public keys only, in the URL.
Until the first key is created, requests from this machine need none.
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
    """A key that does not exist or was revoked: such requests have a rate limit of their own."""

    def __init__(self) -> None:
        super().__init__("wrong-key", "the key does not exist or was revoked", headers=_CHALLENGE)


class Authentication:
    """Authenticates requests by the current API keys and login sessions. `api_keys` is replaced when keys change."""

    def __init__(self, api_keys: ApiKeys, sessions: Sessions) -> None:
        self.api_keys, self.sessions = api_keys, sessions

    def authenticate(
        self, scope: str, method: str, address: str, headers: Mapping[bytes, bytes], *, key_in_url: str | None = None
    ) -> Key:
        """Return the key of a request if it has a scope, else raise a Problem."""
        if not self.api_keys.required:
            _check_local(address, headers)
            return LOOPBACK
        key = None
        if b"cookie" in headers and b"authorization" not in headers and key_in_url is None:
            key = self.sessions.key_of(headers, method, self.api_keys)
        if key is None:
            key = self._sent_key(headers, key_in_url)
        if not key.may(scope):
            raise Problem("wrong-scope", f"this route needs the scope {scope}", value=list(key.scopes))
        return key

    def _sent_key(self, headers: Mapping[bytes, bytes], key_in_url: str | None) -> Key:
        """Return the key in the URL or in the Authorization header."""
        text = key_in_url
        if text is None:
            scheme, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
            if scheme.lower() != "bearer":
                text = ""
        if not text:
            raise Problem("no-key", "send it as Authorization: Bearer rd_...", headers=_CHALLENGE)
        key = self.api_keys.verify(text.strip())
        if key is None:
            raise WrongKey
        if key_in_url is not None and not key.is_public:
            raise Problem("wrong-scope", "a key in a URL must have no scope but ingest", value=list(key.scopes))
        return key


def _check_local(address: str, headers: Mapping[bytes, bytes]) -> None:
    """Without keys: admit only this machine, not through a proxy, and no page of another site in its browser."""
    if (
        not is_loopback(address)
        or not _PROXY_HEADERS.isdisjoint(headers)
        or any(name.startswith(_PROXY_HEADER_PREFIXES) for name in headers)
    ):
        detail = "until a key is created, only direct requests from this machine are answered"
        raise Problem("no-key", detail, headers=_CHALLENGE)
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"none")
    if site not in (b"none", b"same-origin") or (
        origin is not None and origin.partition(b"://")[2] != headers.get(b"host")
    ):
        detail = "pages of other sites are refused until a key is created: rankduel keys create"
        raise Problem("cross-site", detail, value=(origin or site).decode("latin-1")[:200])
