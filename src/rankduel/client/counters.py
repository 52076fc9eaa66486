"""Counters of a client: what it asked and sent, and what became of it. Every loss is counted."""

import threading
from dataclasses import dataclass, replace

__all__ = ["Counters", "Tally"]


@dataclass(slots=True)
class Counters:
    """How often each thing has happened in this process.

    Each ask ended in one way: `asks == answered + late + failed + refused + rested`. Each thing to send was queued or
    dropped, and each queued one is `sent`, `rejected`, `dropped` or still waiting.
    """

    asks: int = 0
    answered: int = 0  # in time, by the service
    late: int = 0  # the deadline came first
    failed: int = 0  # no connection, or no answer that can be understood
    refused: int = 0  # the service has refused to answer: a wrong key, no such tournament, too many requests
    rested: int = 0  # not asked, because the service had failed just before

    queued: int = 0  # tells, pages and signals that were taken in
    sent: int = 0  # and that the service has acknowledged
    rejected: int = 0  # and that the service has refused for good
    dropped: int = 0  # the queue was full, or the client was closed before they could be sent
    retries: int = 0  # batches that had to be sent again

    accepted: int = 0  # how the service has answered what was sent
    duplicate: int = 0
    conflict: int = 0
    told_late: int = 0
    unknown: int = 0
    limit: int = 0  # signals that were dropped: their duel had as many as it may have


class Tally:
    """Counters that many threads count on.

    >>> tally = Tally()
    >>> tally.add(asks=1, answered=1)
    >>> tally.read().asks
    1
    """

    def __init__(self) -> None:
        self._counters = Counters()
        self._lock = threading.Lock()

    def add(self, **counts: int) -> None:
        """Count."""
        with self._lock:
            for name, by in counts.items():
                setattr(self._counters, name, getattr(self._counters, name) + by)

    def read(self) -> Counters:
        """How they stand, as a copy."""
        with self._lock:
            return replace(self._counters)
