"""States of a duel: issued, shown, then resolved, no_signal, expired, late, void or failed.

Two rules refuse what comes after a duel expired: `apply_outcome` here (an outcome, or clicks told with their page) and
`TournamentTransaction._signal` in live/storage/transaction.py (a click sent as a signal).
"""

from enum import StrEnum
from typing import NamedTuple

__all__ = ["OPEN", "REMOVED", "DuelRow", "Status", "numbers_of", "apply_outcome"]

OPEN = ("issued", "shown")  # the states in which a duel accepts an outcome
REMOVED = ""  # the page of a duel whose page, signals and client were removed by retention or an erasure


class Status(StrEnum):
    """The status of a tell, a shown page or a signal.

    >>> Status.LATE == "late"
    True
    """

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # the same is already stored
    CONFLICT = "conflict"  # another outcome or page is already stored, and is kept
    LATE = "late"  # not learnt: the duel has expired, failed or is void
    UNKNOWN = "unknown"  # unknown duel
    LIMIT = "limit"  # a dropped signal: its duel has the maximum number of signals


class DuelRow(NamedTuple):
    """A row of the table of duels. Its keys are `session` and `number`, or the query."""

    session: int  # number of the session that issued it; every opening of the tournament is a session
    number: int  # within the session
    query: str | None
    client: str | None  # hashed
    first: int
    second: int
    first_propensity: float | None
    second_propensity: float | None
    issued: float  # seconds since 1970
    expires: float
    state: str = "issued"  # then shown, resolved, no_signal, expired, late, void or failed
    outcome: str | None = None
    page: str | None = None  # the shown page as JSON, with its clicks if they were told; or REMOVED

    @property
    def id(self) -> str:
        """The id that users see, such as 3-17."""
        return f"{self.session}-{self.number}"


def numbers_of(id: str) -> tuple[int, int] | None:
    """Parse the id of a duel into session and number; None if it is not an id.

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
    """Apply an outcome to a duel. Return the status, and the changed duel or None if nothing changes.

    The outcome None means that there is nothing to learn.

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
    return DuelRow(*row[:10], state, outcome, REMOVED if row.page == REMOVED else page or row.page)
