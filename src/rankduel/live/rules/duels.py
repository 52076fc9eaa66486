"""The life of a duel: issued, perhaps shown, then told; or it has no signal, expires, comes late, is void or fails."""

from enum import StrEnum
from typing import NamedTuple

__all__ = ["OPEN", "DuelRow", "Status", "numbers_of", "apply_outcome"]

OPEN = ("issued", "shown")  # the states of a duel that may still be told


class Status(StrEnum):
    """What became of something that was told.

    >>> Status.LATE == "late"
    True
    """

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # the same was told before
    CONFLICT = "conflict"  # another outcome was told before, and stays
    LATE = "late"  # kept, but not learnt: the duel had expired, failed, or was declared void
    UNKNOWN = "unknown"  # no such duel
    LIMIT = "limit"  # a signal that was dropped: its duel has as many as it may have


class DuelRow(NamedTuple):
    """All that is known of a duel. It is found by `session` and `number`, or by its query."""

    session: int  # how often the tournament had been opened, by any process, when it was issued
    number: int  # within the session
    query: str | None
    client: str | None  # hashed
    first: int
    second: int
    first_propensity: float | None
    second_propensity: float | None
    issued: float  # seconds since 1970
    expires: float
    state: str = "issued"  # shown; told, no_signal, expired, late, void, failed
    outcome: str | None = None
    page: str | None = None  # what was shown, as JSON; with the clicks on it, if they were told

    @property
    def id(self) -> str:
        """How users name it."""
        return f"{self.session}-{self.number}"


def numbers_of(id: str) -> tuple[int, int] | None:
    """Session and number of a duel, by its id; None if it is no id.

    >>> numbers_of("3-17"), numbers_of("3"), numbers_of("3-x")
    ((3, 17), None, None)
    """
    if len(id) > 19 or not id.isascii():
        return None
    session, _, number = id.partition("-")
    return (int(session), int(number)) if session.isdecimal() and number.isdecimal() else None


def apply_outcome(
    row: DuelRow | None, outcome: str | None, time: float, page: str | None = None
) -> tuple[Status, DuelRow | None]:
    """Tell the outcome of a duel at a time: how that is answered, and the duel afterwards; None if nothing changes.

    The outcome None says that there is nothing to learn from it.

    >>> row = DuelRow(1, 1, None, None, 4, 2, None, None, issued=0.0, expires=60.0)
    >>> status, after = apply_outcome(row, "first", 5.0)
    >>> status.value, after.state
    ('accepted', 'resolved')
    >>> apply_outcome(row, "first", 61.0)[0], apply_outcome(after, "tie", 6.0)
    (<Status.LATE: 'late'>, (<Status.CONFLICT: 'conflict'>, None))
    """
    if row is None:
        return Status.UNKNOWN, None
    if row.state in OPEN and time < row.expires:
        return Status.ACCEPTED, _after(row, "no_signal" if outcome is None else "resolved", outcome, page)
    if row.state in OPEN or row.state == "expired":
        return Status.LATE, _after(row, "late", outcome, page)
    if row.state in ("void", "failed"):
        return Status.LATE, None
    return Status.DUPLICATE if row.outcome == outcome else Status.CONFLICT, None


def _after(row: DuelRow, state: str, outcome: str | None, page: str | None) -> DuelRow:
    return DuelRow(*row[:10], state, outcome, page or row.page)
