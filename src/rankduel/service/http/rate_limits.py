"""Rate limits: requests per second of each key or address, and invalid keys per second of each address.

`ServiceSettings` (service/settings.py) has the numbers, and `make_app` (service/app.py) passes them on. `Endpoint`
(endpoint.py) counts requests and invalid keys, `ingest` (service/routes/traffic.py) counts each event.
"""

from collections import OrderedDict
from time import monotonic

from rankduel.service.addresses import network_of
from rankduel.service.auth.keys import LOOPBACK, Key
from rankduel.service.problems import Problem

__all__ = ["RateLimits", "TokenBuckets", "client_of"]

_MAX_BUCKETS = 10_000


class TokenBuckets:
    """One token bucket per client. It fills at `rate` tokens per second, up to `burst`. Unused buckets are dropped.

    >>> buckets = TokenBuckets(rate=1, burst=2)
    >>> [buckets.take("a", at=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> buckets.take("a", at=1.5), buckets.take("b", at=1.5)
    (0.0, 0.0)
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def take(self, client: str, cost: float = 1, *, at: float | None = None) -> float:
        """Take tokens and return 0. If there are too few, take none and return the seconds until there are enough.

        A cost above `burst` counts as `burst`.
        """
        time = monotonic() if at is None else at
        level, counted = self._levels.pop(client, (self.burst, time))
        level = min(self.burst, level + (time - counted) * self.rate)
        cost = min(cost, self.burst)
        wait = 0.0 if level >= cost else (cost - level) / self.rate
        self._levels[client] = (level if wait else level - cost), time
        if len(self._levels) > _MAX_BUCKETS:
            self._levels.popitem(last=False)
        return wait

    def charge(self, client: str, cost: float, *, at: float | None = None) -> float:
        """Take tokens for work that is already done. If there are too few, the client owes them.

        >>> buckets = TokenBuckets(rate=1, burst=2)
        >>> buckets.charge("a", 2, at=0.0), buckets.charge("a", 1, at=0.0), buckets.take("a", at=1.0)
        (0.0, 2.0, 1.0)
        """
        wait = self.take(client, cost, at=at)
        if wait:
            level, counted = self._levels[client]
            owed = min(cost, self.burst)
            self._levels[client] = level - owed, counted
            wait += owed / self.rate
        return wait


class RateLimits:
    """Rate limits of one server. Each method raises a Problem (429, with Retry-After) when a client exceeds a limit."""

    def __init__(self, requests: TokenBuckets, wrong_keys: TokenBuckets) -> None:
        self._requests, self._wrong_keys = requests, wrong_keys

    def count_request(self, client: str) -> None:
        """Count one request of a client."""
        if (wait := self._requests.take(client)) > 0:
            raise _exceeded("too-many-requests", "requests", self._requests, wait)

    def charge(self, client: str, items: int) -> None:
        """Count the items of a request after reading it. The request itself was already counted as one of them.

        A request that is refused here still counts, because reading it was work.
        """
        if (wait := self._requests.charge(client, items - 1)) > 0:
            raise _exceeded("too-many-requests", "requests", self._requests, wait)

    def count_wrong_key(self, address: str) -> None:
        """Count an invalid key from an address."""
        if (wait := self._wrong_keys.take(network_of(address))) > 0:
            raise _exceeded("too-many-wrong-keys", "invalid API keys from this address", self._wrong_keys, wait)


def client_of(key: Key, address: str) -> str:
    """Return the client that a rate limit counts: the key or, without keys, the address.

    Requests with a public key count per address, so that one browser cannot use up the rate of all others.

    >>> client_of(Key("a1", "site", ("ask",), ""), "203.0.113.7"), client_of(LOOPBACK, "::1")
    ('a1', '::/64')
    >>> client_of(Key("b2", "browsers", ("ingest",), ""), "203.0.113.7")
    'b2 203.0.113.7'
    """
    if key is LOOPBACK:
        return network_of(address)
    return f"{key.id} {network_of(address)}" if key.is_public else key.id


def _exceeded(problem: str, what: str, limit: TokenBuckets, wait_seconds: float) -> Problem:
    seconds = int(wait_seconds) + 1
    detail = f"the limit is {limit.rate:g} {what} per second; try again in {seconds} s"
    return Problem(problem, detail, headers=((b"retry-after", b"%d" % seconds),))
