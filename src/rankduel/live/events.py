"""What happens in a tournament, as its journal keeps it: events, numbered from 1 without a gap."""

from typing import Any, NamedTuple

__all__ = ["DuelRow", "Event", "closings", "issued"]


class Event(NamedTuple):
    """One line of the journal. Times are seconds since 1970, and never go back.

    The kinds are `created`, `opened`, `asked`, `told`, `late` (told after the duel had expired: kept, not learnt),
    `expired`, `paused`, `resumed`, `stopped`, `added` and `retired`.
    """

    number: int
    time: float
    kind: str
    body: dict[str, Any]


class DuelRow(NamedTuple):
    """What a store knows of one duel: all that finds it again, and what became of it."""

    number: int  # that of the bandit
    session: int  # how often the tournament had been opened when it was asked for
    query: str | None
    first: int
    second: int
    expires: float
    state: str = "open"  # then told, or expired, or late
    outcome: str | None = None


def issued(event: Event) -> DuelRow | None:
    """The duel that an event has begun.

    >>> issued(Event(3, 0.0, "asked", {"duel": 1, "session": 1, "first": 4, "second": 2, "expires": 60.0}))
    DuelRow(number=1, session=1, query=None, first=4, second=2, expires=60.0, state='open', outcome=None)
    """
    if event.kind != "asked":
        return None
    body = event.body
    return DuelRow(body["duel"], body["session"], body.get("query"), body["first"], body["second"], body["expires"])


def closings(event: Event) -> list[tuple[int, str, str | None]]:
    """Number, state and outcome of the duels that an event has changed.

    >>> closings(Event(4, 0.0, "told", {"duel": 1, "outcome": "tie"}))
    [(1, 'told', 'tie')]
    """
    if event.kind in ("told", "late"):
        return [(event.body["duel"], event.kind, event.body["outcome"])]
    return [(number, "expired", None) for number in event.body["duels"]] if event.kind == "expired" else []
