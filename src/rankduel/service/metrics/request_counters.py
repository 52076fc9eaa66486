"""Counters of requests in this process, cheap enough for each ask and tell."""

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from math import inf

__all__ = ["RequestCounters"]

_BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, inf)
_Route = tuple[str, str]  # method and path


class RequestCounters:
    """Counters since the start of this process. Only the event loop changes them.

    They are plain dictionaries, because counters of prometheus_client would take seven times as long for each request
    (`python -m benchmarks --metrics`). `collector.py` turns them into metrics.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()  # by method, route path and status
        self.asks: Counter[tuple[str, str, str | None]] = Counter()  # by tournament, `serve` and `why`
        self.tells: Counter[tuple[str, str]] = Counter()  # by tournament and status
        self.events: Counter[str] = Counter()  # by status
        self.in_flight = 0  # requests
        self._buckets: dict[_Route, list[int]] = {}  # requests in each bucket of `_BUCKET_SECONDS`
        self._seconds: Counter[_Route] = Counter()

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests[method, path, status] += 1
        route = method, path
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * len(_BUCKET_SECONDS)
        buckets[bisect_left(_BUCKET_SECONDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def durations(self) -> list[tuple[_Route, list[tuple[float, int]], float]]:
        """Return the cumulative buckets and the sum of the seconds of each route."""
        return [
            (route, list(zip(_BUCKET_SECONDS, accumulate(buckets), strict=True)), self._seconds[route])
            for route, buckets in sorted(self._buckets.copy().items())
        ]
