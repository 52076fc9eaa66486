"""Events of the journal, numbered from 1 without a gap."""

from typing import Any, NamedTuple

__all__ = ["Event"]


class Event(NamedTuple):
    """An event of the journal. Times are seconds since 1970 and never decrease.

    The kinds are `created`, `resolved`, `paused`, `started`, `stopped`, `rolled_out`, `rolled_back`, `archived`,
    `added`, `retired`, `ranker_paused`, `ranker_started`, `configured`, `voided`, `erased` and `quarantined`. A
    `quarantined` event could not be replayed: its body has the original `kind` and `body`. All kinds except `resolved`
    have an operator, `by`, and all except `created` and `resolved` a `reason`.
    """

    number: int
    time: float
    kind: str
    body: dict[str, Any]
