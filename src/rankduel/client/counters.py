"""Counters of a client: asks and sent items, by result. Dropped items are counted too."""

import threading
from dataclasses import dataclass, field, replace

__all__ = ["Counters", "Tally"]


@dataclass(slots=True)
class Counters:
    """The counters of a client in this process.

    Each ask has one result: `asks == answered + late + failed + refused + rested`. Each item is queued or dropped. Each
    queued item is `sent`, `rejected`, `dropped` or still waiting.
    """

    asks: int = 0
    answered: int = 0  # the service sent a duel or a baseline in time
    late: int = 0  # no response before the deadline
    failed: int = 0  # no connection, or an invalid response
    refused: int = 0  # rejected by the service: invalid key, unknown tournament, rate limit
    rested: int = 0  # no request, because the circuit breaker was open

    queued: int = 0  # tells, pages and signals added to the queue
    sent: int = 0  # acknowledged by the service
    rejected: int = 0  # rejected by the service for good
    dropped: int = 0  # the queue was full, or the client was closed before they were sent
    retries: int = 0  # batches that were sent again

    accepted: int = 0  # this and the following: statuses that the service returned for sent items
    duplicate: int = 0
    conflict: int = 0
    told_late: int = 0
    unknown: int = 0
    limit: int = 0  # signals that the service dropped, because their duel had the maximum number of signals

    problems: dict[str, int] = field(default_factory=dict)  # by kind: failed calls, and items that were dropped


class Tally:
    """Thread-safe counters.

    >>> tally = Tally()
    >>> tally.add(asks=1, answered=1)
    >>> tally.read().asks
    1
    """

    def __init__(self) -> None:
        self._counters = Counters()
        self._lock = threading.Lock()

    def add(self, **counts: int) -> None:
        """Add to counters, by name."""
        with self._lock:
            for name, by in counts.items():
                setattr(self._counters, name, getattr(self._counters, name) + by)

    def read(self, problems: dict[str, int] | None = None) -> Counters:
        """Return a copy of the counters, with these counts of problems."""
        with self._lock:
            return replace(self._counters, problems=problems or {})
