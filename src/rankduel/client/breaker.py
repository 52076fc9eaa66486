"""Circuit breaker: stop calling a failing service for a while, so that users do not wait for it.

The rules know neither clock, threads nor sockets: the caller, `Client` in client.py, passes the time, and calls
from one thread at a time.
"""

import random
from collections.abc import Callable

__all__ = ["Breaker"]

_BUCKET_SECONDS = 0.1
_BUCKETS = 100  # the window: calls of the last 10 seconds
_EMPTY = -_BUCKETS  # the newest bucket before the first call: all buckets are too old
_RECENT_BUCKETS = 10  # the last second is judged, or as much of the window as it takes to see both minimums
_MIN_CALLS = 10
_MIN_FAILING_BUCKETS = 4  # with a failure: a hiccup of 0.2 s that fails the calls of all threads opens nothing
_MAX_FAILURE_RATE = 0.5
_PROBE_INTERVAL_SECONDS = 0.5
_MAX_REFUSED_SECONDS = 15.0  # between probes that the service refuses, for example because of the key
_MAX_RETRY_AFTER_SECONDS = 5.0  # the longest rest that a service may ask for


class Breaker:
    """A circuit breaker that opens when at least half of the recent calls failed.

    It judges the calls of the last second. It looks back further, up to 10 seconds, until it has 10 calls, and failures
    in 4 different tenths of a second. With less than that it never opens. So neither some late responses among many
    calls nor a hiccup of 0.2 s open it, whatever the number of threads.

    While it is open, `allows` lets one call through every half second: a probe. If the probe succeeds, the breaker
    closes at once. Probes of a failing service do not slow down, because they cost it little, and users get their duels
    back as soon as it works. Probes that the service refuses slow down to one in 15 seconds, because only a change of
    settings helps. Intervals vary by 25 % at random, so that many clients do not call at the same moment.

    >>> breaker = Breaker()
    >>> for tenth in range(10):
    ...     breaker.failed(breaker.allows(now=tenth / 10), now=tenth / 10)
    >>> breaker.allows(now=1.0) is None
    True
    >>> probe = breaker.allows(now=2.0)
    >>> breaker.allows(now=2.0) is None
    True
    >>> breaker.answered(probe, now=2.0)
    >>> breaker.is_open
    False
    """

    def __init__(self, timeout: float = 0.0, uniform: Callable[[float, float], float] = random.uniform) -> None:
        self.is_open = False
        self._probe_seconds = max(timeout, _PROBE_INTERVAL_SECONDS)  # a probe without a result counts as failed then
        self._uniform = uniform
        self._permit = 0  # results of calls with another permit are outdated
        self._next_probe = 0.0
        self._rest = _PROBE_INTERVAL_SECONDS  # after the next refused probe
        self._newest = _EMPTY  # the number of the newest bucket since the time 0
        self._calls = [0] * _BUCKETS
        self._failures = [0] * _BUCKETS

    def allows(self, now: float) -> int | None:
        """Return the permit for a call; None if the service should not be called now."""
        if self.is_open:
            if now < self._next_probe:
                return None
            self._permit += 1
            self._next_probe = now + self._probe_seconds
        return self._permit

    def answered(self, permit: int | None, now: float) -> None:
        """Record that the call with this permit succeeded."""
        if permit != self._permit:
            return
        if self.is_open:
            self.is_open = False
            self._permit += 1
            self._rest = _PROBE_INTERVAL_SECONDS
            self._newest = _EMPTY
        else:
            self._calls[self._slot(now)] += 1

    def failed(
        self, permit: int | None, now: float, *, refused: bool = False, retry_after: float | None = None
    ) -> None:
        """Record that the call with this permit failed. `retry_after` is the Retry-After of the response in seconds."""
        if permit != self._permit:
            return
        if not self.is_open:
            slot = self._slot(now)
            self._calls[slot] += 1
            self._failures[slot] += 1
            if not self._fails():
                return
            self.is_open = True
        self._permit += 1
        rest = self._rest if refused else _PROBE_INTERVAL_SECONDS
        self._rest = min(2 * rest, _MAX_REFUSED_SECONDS) if refused else _PROBE_INTERVAL_SECONDS
        rest = max(rest, min(retry_after or 0.0, _MAX_RETRY_AFTER_SECONDS))
        self._next_probe = now + rest * self._uniform(0.75, 1.25)

    def _fails(self) -> bool:
        """Whether at least half of the recent calls failed."""
        calls = failures = failing = 0
        for back in range(_BUCKETS):
            slot = (self._newest - back) % _BUCKETS
            calls += self._calls[slot]
            failures += self._failures[slot]
            failing += self._failures[slot] > 0
            if back + 1 >= _RECENT_BUCKETS and calls >= _MIN_CALLS and failing >= _MIN_FAILING_BUCKETS:
                return failures >= _MAX_FAILURE_RATE * calls
        return False

    def _slot(self, now: float) -> int:
        """Return the index of the current bucket, after emptying the buckets that are older than the window."""
        newest = int(now / _BUCKET_SECONDS)
        for number in range(max(self._newest + 1, newest - _BUCKETS + 1), newest + 1):
            self._calls[number % _BUCKETS] = self._failures[number % _BUCKETS] = 0
        self._newest = max(self._newest, newest)
        return self._newest % _BUCKETS
