"""Client addresses: loopback, and the network that a limit counts as one client."""

import ipaddress
from functools import lru_cache

__all__ = ["is_loopback", "network_of"]


@lru_cache(maxsize=1000)
def network_of(address: str) -> str:
    """Return an IPv4 address unchanged, and the /64 network of an IPv6 address: one client owns the whole network.

    >>> network_of("203.0.113.7"), network_of("2001:db8::1%eth0")
    ('203.0.113.7', '2001:db8::/64')
    """
    return str(ipaddress.IPv6Network((address.partition("%")[0], 64), strict=False)) if ":" in address else address


@lru_cache(maxsize=1000)
def is_loopback(address: str) -> bool:
    """Whether an address belongs to this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
