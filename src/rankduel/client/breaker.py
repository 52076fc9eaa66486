"""Circuit breaker: stop calling a failing service for a while, so that users do not wait for it."""

import random
import threading
from time import monotonic

__all__ = ["Breaker"]


class Breaker:
    """A circuit breaker that opens after `failures` failed calls in a row.

    While it is open, it allows no calls. After `rest` seconds it allows one trial call. If that call succeeds, the
    breaker closes. Otherwise it waits twice as long before the next trial, up to `longest` seconds. Waiting times vary
    by 25 % at random, so that many clients do not return at the same moment.

    >>> breaker = Breaker(failures=2, rest=60)
    >>> breaker.failed(); breaker.allows()
    True
    >>> breaker.failed(); breaker.allows()
    False
    >>> breaker.answered(); breaker.allows()
    True
    """

    def __init__(self, failures: int = 3, rest: float = 0.5, longest: float = 15.0) -> None:
        self._limit, self._first, self._longest = failures, rest, longest
        self._failures = 0
        self._rest = rest
        self._until = 0.0
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether a call may be made now. While the breaker is open, only one caller per waiting time gets True."""
        if self._failures < self._limit:
            return True
        with self._lock:
            if monotonic() < self._until:
                return False
            self._until = monotonic() + self._rest
            return True

    def answered(self) -> None:
        """Record a successful call: close the breaker."""
        if self._failures:
            with self._lock:
                self._failures, self._rest = 0, self._first

    def failed(self, pause: float | None = None) -> None:
        """Record a failed call. `pause`, the Retry-After of the response in seconds, opens the breaker at once."""
        with self._lock:
            self._failures = self._limit if pause else self._failures + 1
            if self._failures >= self._limit:
                self._until = monotonic() + max(pause or 0.0, self._rest) * random.uniform(0.75, 1.25)
                self._rest = min(2 * self._rest, self._longest)
