"""What happens in a tournament, as its journal keeps it: events, numbered from 1 without a gap."""

from typing import Any, NamedTuple

__all__ = ["Event"]


class Event(NamedTuple):
    """One line of the journal. Times are seconds since 1970, and never go back.

    The kinds are `created`, `told`, `paused`, `started`, `stopped`, `added`, `retired`, `ranker_paused`,
    `ranker_started`, `configured`, `voided` and `quarantined` (an event that could not be replayed: its `kind` and
    `body` are in its body). All but `told` say who did it and why.
    """

    number: int
    time: float
    kind: str
    body: dict[str, Any]
