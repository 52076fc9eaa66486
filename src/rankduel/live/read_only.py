"""Read-only tournaments: the reading half of `LocalTournament`, and a stored tournament that another process runs."""

import threading
from collections.abc import Iterator

from rankduel.errors import UnknownTournament
from rankduel.live import standings
from rankduel.live.results import Counts, Departure, LiveDecision, Meeting, Standing
from rankduel.live.rules.duels import DuelRow, numbers_of
from rankduel.live.rules.events import Event
from rankduel.live.rules.validation import brief, some_of
from rankduel.live.runtime.state import State, load_state
from rankduel.live.settings import Settings
from rankduel.live.storage.contract import Storage
from rankduel.live.view import View, view_of

__all__ = ["ReadOnlyTournament", "StoredTournament", "check_known"]


class ReadOnlyTournament:
    """The reading half of `LocalTournament`."""

    def __init__(self, name: str, storage: Storage, state: State, lock: threading.RLock) -> None:
        self.name = name
        self.storage = storage
        self._state = state
        self._lock = lock  # held by whoever changes the state, or looks at it
        self._view: View | None = None

    @property
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""
        return self._state.status

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._state.settings

    @property
    def rankers(self) -> list[str]:
        """All rankers that ever took part, in the order in which they came."""
        with self._lock:
            return list(self._state.rankers)

    @property
    def champion(self) -> str:
        """The ranker that is the best guess now."""
        with self._lock:
            return self._state.rankers[self._state.bandit.champion]

    @property
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""
        with self._lock:
            winner = self._state.bandit.winner
            return None if winner is None else self._state.rankers[winner]

    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or where it stands; by `str` in words."""
        return standings.decision(self.view())

    def leaderboard(self) -> list[Standing]:
        """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""
        return standings.leaderboard(self.view())

    def timeline(self) -> list[Departure]:
        """The rankers that are out, in the order in which they went."""
        return standings.timeline(self.view())

    def preferences(self) -> list[Meeting]:
        """All pairs that have met, and how often each won."""
        return standings.preferences(self.view())

    def view(self) -> View:
        """All that was learnt up to now, as a copy: nobody waits for what is computed from it."""
        with self._lock:
            if self._view is None or self._view.number != self._state.number:
                self._view = view_of(self._state)
            return self._view

    @property
    def number(self) -> int:
        """Of the last event that was learnt."""
        return self._state.number

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """The latest duels, or the latest before the one of that id; newest first."""
        numbers = None if before is None else numbers_of(before)
        if before is not None and numbers is None:
            raise ValueError(f"before must be the id of a duel, got {brief(before)}")
        return self.storage.duels(self.name, limit, numbers)

    def journal(self, since: int = 0) -> Iterator[Event]:
        """All that has happened after event number `since`, as it is stored."""
        return self.storage.read(self.name, since)

    def audit(self, limit: int = 100, before: int | None = None) -> list[Event]:
        """What operators and guardrails did, newest first: the journal without what was told."""
        return self.storage.changes(self.name, limit, before)

    def resolved_since(self, time: float) -> int:
        """How many outcomes were learnt from a time on."""
        return self.storage.resolved_since(self.name, time)


class StoredTournament(ReadOnlyTournament):
    """A tournament as it is stored, at the moment when this object is made; another process may run it."""

    def __init__(self, name: str, storage: Storage) -> None:
        check_known(name, storage)
        super().__init__(name, storage, load_state(storage, name)[0], threading.RLock())
        self.counts = Counts.of(storage.counts(name))

    def close(self) -> None:
        """Let go of the storage."""
        self.storage.close()


def check_known(name: str, storage: Storage) -> None:
    """Raise UnknownTournament if a storage has no tournament of that name."""
    if name not in (known := storage.names()):
        raise UnknownTournament(f"no tournament {name!r} in {storage.url}; it has {some_of(known) or 'none'}")
