"""Signals (user actions after a query), shown pages, and clicks on pages."""

from collections.abc import Hashable
from typing import NamedTuple

from rankduel.interleaving import Interleaved

__all__ = ["Clicks", "Shown", "Signal"]


class Signal(NamedTuple):
    """An action of a user after a query.

    >>> Signal("q-81", "click", "d4", position=2, time=1_800_000_000.0, dwell=None, key="e-1").action
    'click'
    """

    query_id: str
    action: str
    object: str | None  # the document, if the action was about one
    position: int | None  # of the document on the page, as the client counts; stored, but not used
    time: float  # seconds since 1970
    dwell: float | None  # seconds that the user stayed on the document, if the client measured it
    key: str  # signals with equal keys are duplicates


class Shown(NamedTuple):
    """The page that a user saw after a query."""

    query_id: str
    page: Interleaved


class Clicks(NamedTuple):
    """The clicked documents of a shown page."""

    clicks: tuple[Hashable, ...]
    shown: Interleaved
