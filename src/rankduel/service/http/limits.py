"""How much of anything one client may have: rates, sizes, and the names by which the server is called."""

import ipaddress
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from time import monotonic

__all__ = ["Buckets", "Connections", "Hosts", "is_loopback", "network_of"]

_HOST = re.compile(r"(?:\[([0-9a-f.:]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?")  # an IPv6 address or a name, and a port
_LARGEST_PORT = 65_535


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

    def take(self, who: str, cost: float = 1, *, at: float | None = None) -> float:
        """Take tokens; if there are too few, the seconds until there are enough, else 0. None costs more than all."""
        time = monotonic() if at is None else at
        level, counted = self._levels.pop(who, (self.burst, time))
        level = min(self.burst, level + (time - counted) * self.rate)
        cost = min(cost, self.burst)
        wait = 0.0 if level >= cost else (cost - level) / self.rate
        self._levels[who] = (level if wait else level - cost), time
        if len(self._levels) > self.most:
            self._levels.popitem(last=False)
        return wait

    def charge(self, who: str, cost: float) -> float:
        """Take tokens for work that is done already, also such that are not there yet; else as `take`."""
        wait = self.take(who, cost)
        if wait:
            level, counted = self._levels[who]
            owed = min(cost, self.burst)
            self._levels[who] = level - owed, counted
            wait += owed / self.rate
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
            known = _name_in(host.lower()) in self.names
            if known and len(self._seen) < 1000:
                self._seen[host] = known
        return known


def _name_in(host: str) -> str | None:
    """The name or address in a Host header, without its port; None if the header is malformed."""
    parts = _HOST.fullmatch(host)
    if parts is None or int(parts[3] or 0) > _LARGEST_PORT or (parts[1] is not None and ":" not in parts[1]):
        return None
    return parts[1] or parts[2]


class Connections:
    """Open connections, counted together and by address. IPv6 addresses of one /64 network count as one.

    Loopback addresses have no bound of their own: a proxy on this machine brings the connections of all clients.

    >>> connections = Connections(most=3, per_address=2)
    >>> [connections.add("203.0.113.7") for _ in range(3)]
    [True, True, False]
    >>> connections.remove("203.0.113.7")
    >>> connections.add("203.0.113.8"), connections.add("127.0.0.1")
    (True, False)
    """

    def __init__(self, most: int, per_address: int) -> None:
        self.most, self.per_address = most, per_address
        self._open: Counter[str] = Counter()
        self._total = 0

    def add(self, address: str) -> bool:
        """Count a new connection; whether it is within the bounds. `remove` it in either case when it has ended."""
        counted_as = network_of(address)
        self._total += 1
        self._open[counted_as] += 1
        return self._total <= self.most and (is_loopback(address) or self._open[counted_as] <= self.per_address)

    def remove(self, address: str) -> None:
        """Count a connection no more."""
        counted_as = network_of(address)
        self._total -= 1
        self._open[counted_as] -= 1
        if not self._open[counted_as]:
            del self._open[counted_as]


@lru_cache(maxsize=1000)
def network_of(address: str) -> str:
    """The address, or the /64 network of an IPv6 one: a client has all the addresses of it.

    >>> network_of("203.0.113.7"), network_of("2001:db8::1%eth0")
    ('203.0.113.7', '2001:db8::/64')
    """
    return str(ipaddress.IPv6Network((address.partition("%")[0], 64), strict=False)) if ":" in address else address


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
