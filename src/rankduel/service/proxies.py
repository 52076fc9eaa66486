"""Trusted proxies: find the address of the client, and whether it used TLS, in the headers that proxies add."""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["TrustedProxies"]

_MAX_ADDRESS_CHARACTERS = 64
_FORWARDED_FOR, _FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class TrustedProxies:
    """The addresses and networks of proxies that tell the truth in `X-Forwarded-For` and `X-Forwarded-Proto`.

    Headers of all other senders are ignored. Each proxy appends the address that it saw to `X-Forwarded-For`, so only
    the end of the list is trustworthy: the client is the right-most address that is not a trusted proxy.

    >>> proxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8"])
    >>> headers = [(b"x-forwarded-for", b"192.0.2.1, 203.0.113.7, 10.1.2.3"), (b"x-forwarded-proto", b"https")]
    >>> proxies.client("127.0.0.1", headers), proxies.client("198.51.100.9", headers)
    (('203.0.113.7', True), ('198.51.100.9', False))
    """

    def __init__(self, proxies: Iterable[str]) -> None:
        self._networks = tuple(map(_network, proxies))
        self._trusts = lru_cache(maxsize=1000)(self._is_trusted)

    def __reduce__(self) -> tuple[type["TrustedProxies"], tuple[list[str]]]:
        """Pickle without the cache, for `serve` with several processes."""
        return TrustedProxies, ([str(network) for network in self._networks],)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, str) and self._trusts(address)

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, bool]:
        """Return the address of the client, and whether it used TLS. `peer` is the address of the connection."""
        if peer not in self:
            return peer, False
        sent = list(headers)
        hops = b",".join(value for name, value in sent if name == _FORWARDED_FOR).decode("latin-1").split(",")
        schemes = b",".join(value for name, value in sent if name == _FORWARDED_PROTO).lower().split(b",")
        return self._client(peer, hops), b"https" in map(bytes.strip, schemes)

    def _client(self, peer: str, hops: list[str]) -> str:
        client = peer
        for hop in reversed(hops):
            address = _address(hop.strip())
            if address is None:  # the last proxy said nothing useful: it counts as the client
                break
            client = str(address)
            if client not in self:
                break
        return client

    def _is_trusted(self, text: str) -> bool:
        address = _address(text)
        return address is not None and any(address in network for network in self._networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        expected = "addresses or networks such as 10.0.0.7 or 10.0.0.0/8"
        raise ValueError(f"trusted_proxies must be a list of {expected}: {error}") from None


def _address(text: str) -> _Address | None:
    """Parse an address, which may have a port; None if it is not an address.

    >>> str(_address("203.0.113.7:4711")), str(_address("[2001:db8::1]:443")), _address("unknown")
    ('203.0.113.7', '2001:db8::1', None)
    """
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text[:_MAX_ADDRESS_CHARACTERS])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address
