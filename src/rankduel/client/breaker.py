"""Circuit breaker: a server that fails is not asked for a while, so that users do not wait for it."""

import random
import threading
from time import monotonic

__all__ = ["Breaker"]


class Breaker:
    """After `failures` in a row nobody asks for a while; then one tries, and if it is answered, all do again.

    A while is `rest` seconds, then twice as many, up to `longest`, give or take a quarter: many clients should not
    come back in the same moment.

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
        """Whether to ask now. Who is told so while the server rests is the only one for another while."""
        if self._failures < self._limit:
            return True
        with self._lock:
            if monotonic() < self._until:
                return False
            self._until = monotonic() + self._rest
            return True

    def answered(self) -> None:
        """The server is well."""
        if self._failures:
            with self._lock:
                self._failures, self._rest = 0, self._first

    def failed(self, pause: float | None = None) -> None:
        """It has failed, and perhaps said for how many seconds it wants to be left alone."""
        with self._lock:
            self._failures = self._limit if pause else self._failures + 1
            if self._failures >= self._limit:
                self._until = monotonic() + max(pause or 0.0, self._rest) * random.uniform(0.75, 1.25)
                self._rest = min(2 * self._rest, self._longest)
