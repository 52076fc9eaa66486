"""Connection limits: open connections in total and per client address."""

from collections import Counter
from collections.abc import Container

from rankduel.service.addresses import is_loopback, network_of

__all__ = ["Connections"]


class Connections:
    """Counts open connections in total and per address. IPv6 addresses of one /64 network count as one.

    The limit per address applies neither to loopback nor to proxies, which open the connections of all their clients.

    >>> connections = Connections(limit=3, limit_per_address=2)
    >>> [connections.add("203.0.113.7") for _ in range(3)]
    [True, True, False]
    >>> connections.remove("203.0.113.7")
    >>> connections.add("203.0.113.8"), connections.add("127.0.0.1")
    (True, False)
    """

    def __init__(self, limit: int, limit_per_address: int, proxies: Container[str] = ()) -> None:
        self.limit, self.limit_per_address = limit, limit_per_address
        self._proxies = proxies
        self._open: Counter[str] = Counter()
        self._total = 0

    def add(self, address: str) -> bool:
        """Count a new connection. Return whether it is within the limits. Call `remove` in either case when it ends."""
        client = network_of(address)
        self._total += 1
        self._open[client] += 1
        if self._total > self.limit:
            return False
        return self._open[client] <= self.limit_per_address or is_loopback(address) or address in self._proxies

    def remove(self, address: str) -> None:
        """Stop counting a connection."""
        client = network_of(address)
        self._total -= 1
        self._open[client] -= 1
        if not self._open[client]:
            del self._open[client]
