"""Pending asks: new duels wait up to 0.1 s for their tell, so that most are written only once, with their outcome."""

from collections.abc import Iterable, Sequence
from time import monotonic

from rankduel.live.rules.duels import DuelRow
from rankduel.live.storage.contract import REFERS_TO_DUEL, CounterDelta, Entry

__all__ = ["PendingAsks"]

_PLAIN = frozenset({*REFERS_TO_DUEL, CounterDelta})  # entries that affect no other duels than the ones they name

Taken = dict[str, list[Entry]]  # duels to write now, by tournament


class PendingAsks:
    """Holds new duels back until an entry names them, or until the first commit at least two periods after the ask.

    >>> from rankduel.live.storage.contract import Tell
    >>> pending = PendingAsks(0.05)
    >>> rows = [DuelRow(1, number, None, None, 4, 2, None, None, issued=0.0, expires=60.0) for number in (1, 2, 3)]
    >>> pending.put("search", rows)
    >>> tell = Tell(1, 2, None, "tie", time=5.0)
    >>> taken = {}
    >>> pending.take_named([("search", [tell])], taken)
    >>> taken == {"search": [rows[1]]}
    True
    >>> len(pending)
    2
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._new: dict[tuple[str, int, int], DuelRow] = {}  # by tournament, session and number
        self._old: dict[tuple[str, int, int], DuelRow] = {}  # two generations: at each turn, new becomes old
        self._turn = 0.0  # when the next turn is due

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def put(self, tournament: str, rows: Iterable[DuelRow]) -> None:
        """Hold duels back."""
        if not self._new and not self._old:
            self._turn = monotonic() + self._seconds
        for row in rows:
            self._new[tournament, row.session, row.number] = row

    def take_named(self, puts: Iterable[tuple[str, Sequence[Entry]]], taken: Taken) -> None:
        """Take the duels that these entries name. Take all duels if an entry may affect any of them."""
        for tournament, entries in puts:
            kinds = set(map(type, entries))
            if not kinds or not kinds <= _PLAIN:
                self.take_all(taken)
                return
            for entry in entries if self else ():
                if isinstance(entry, REFERS_TO_DUEL):
                    key = tournament, entry.session, entry.number
                    row = self._new.pop(key, None) or self._old.pop(key, None)
                    if row is not None:
                        taken.setdefault(tournament, []).append(row)

    def take_all(self, taken: Taken) -> None:
        """Take all duels."""
        self._turn_generations(taken)
        self._turn_generations(taken)

    def take_due(self, taken: Taken) -> None:
        """If a turn is due, take the old generation. If the next turn is due as well, take all duels.

        Turns are due at fixed times, however long commits take. So each duel is in the first commit that begins at
        least two periods after its ask, at the latest.
        """
        overdue = monotonic() - self._turn
        if overdue >= 0:
            self._turn_generations(taken)
        if overdue >= self._seconds:
            self._turn_generations(taken)

    def _turn_generations(self, taken: Taken) -> None:
        for (tournament, _, _), row in self._old.items():
            taken.setdefault(tournament, []).append(row)
        self._new, self._old, self._turn = {}, self._new, self._turn + self._seconds

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the next turn is due; None without pending asks."""
        return self._turn - monotonic() if self else None
