"""Values of the labels `tournament` and `why`. Both are bounded, so that Prometheus never gets too many series."""

from collections.abc import Iterable

from rankduel.live import LocalTournament

__all__ = ["MAX_TOURNAMENT_LABELS", "OTHER", "REASONS", "TournamentLabels", "reason"]

MAX_TOURNAMENT_LABELS = 200
OTHER = "other"
# `why` of asks without a duel: a status of the tournament, a setting, or a failure.
REASONS = frozenset(
    {
        *("draft", "paused", "decided", "rolled_out", "stopped", "archived"),
        *("share", "daily_cap", "in_flight_cap", "shadow"),
        *("storage", "failed"),
    }
)


def reason(why: str | None) -> str:
    """Return the label for a `why`.

    >>> reason("share"), reason(None), reason("new in a plugin")
    ('share', 'none', 'other')
    """
    if why is None:
        return "none"
    return why if why in REASONS else OTHER


class TournamentLabels:
    """The labels of tournaments: the name for at most 200 of them, `other` for the rest.

    All processes choose the same ones: the oldest, and archived ones last. So a tournament changes its label only if
    there are more than 200, and an older one is deleted or archived.
    """

    def __init__(self, tournaments: Iterable[LocalTournament]) -> None:
        by_age = sorted(tournaments, key=lambda t: (t.status == "archived", t.id))
        self._labels = {t.name: t.name if place < MAX_TOURNAMENT_LABELS else OTHER for place, t in enumerate(by_age)}

    def get(self, name: str) -> str | None:
        """Return the label of a tournament by name; None if it is not among the given ones, such as a deleted one."""
        return self._labels.get(name)
