"""Signals (what users did on a page), pages that were shown, and clicks on them."""

from collections.abc import Hashable
from typing import NamedTuple

from rankduel.interleaving import Interleaved

__all__ = ["Clicks", "Shown", "Signal"]


class Signal(NamedTuple):
    """One thing that a user did after a query.

    >>> Signal("q-81", "click", "d4", position=2, time=1_800_000_000.0, dwell=None, key="e-1").action
    'click'
    """

    query_id: str
    action: str
    object: str | None  # the document; None if it was about none
    position: int | None  # of the document on the page, as the client counts; nothing is concluded from it
    time: float  # seconds since 1970
    dwell: float | None  # seconds that the user stayed with the document, if the client has measured it
    key: str  # equal keys are the same signal, sent again


class Shown(NamedTuple):
    """The page that a user saw after a query."""

    query_id: str
    page: Interleaved


class Clicks(NamedTuple):
    """The documents that were clicked, on the page that was shown."""

    clicks: tuple[Hashable, ...]
    shown: Interleaved
