"""How much of anything one client may have: rates, sizes, and the names by which the server is called."""

import ipaddress
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from time import monotonic

__all__ = ["Buckets", "Hosts", "is_loopback"]


class Buckets:
    """A bucket of tokens for each of many clients; it fills at `rate` a second, up to `burst`. Clients long unseen go.

    >>> buckets = Buckets(rate=1, burst=2)
    >>> [buckets.take("a", at=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> buckets.take("a", at=1.5), buckets.take("b", at=1.5)
    (0.0, 0.0)
    """

    def __init__(self, rate: float, burst: float, most: int = 10_000) -> None:
        self.rate, self.burst, self.most = rate, burst, most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def take(self, who: str, *, at: float | None = None) -> float:
        """Take a token; if there is none, the seconds until there is one, else 0."""
        time = monotonic() if at is None else at
        level, counted = self._levels.pop(who, (self.burst, time))
        level = min(self.burst, level + (time - counted) * self.rate)
        wait = 0.0 if level >= 1 else (1 - level) / self.rate
        self._levels[who] = (level if wait else level - 1), time
        if len(self._levels) > self.most:
            self._levels.popitem(last=False)
        return wait


class Hosts:
    """The names by which clients may call the server: a page of another site that resolves its name to us has another.

    >>> hosts = Hosts(["duels.example", "127.0.0.1"])
    >>> "duels.example:8080" in hosts, "DUELS.example" in hosts, "evil.example" in hosts, "[::1]:80" in hosts
    (True, True, False, False)
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(name.lower() for name in names)
        self._seen: dict[str, bool] = {}

    def __contains__(self, host: str) -> bool:
        known = self._seen.get(host)
        if known is None:
            known = _without_port(host.lower()) in self.names
            if len(self._seen) < 1000:
                self._seen[host] = known
        return known


def _without_port(host: str) -> str:
    if host.startswith("[") and "]" in host:
        return host[1:].partition("]")[0]
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


@lru_cache(maxsize=1000)
def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
