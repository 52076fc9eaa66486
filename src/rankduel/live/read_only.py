"""Read-only access: the reading methods of `LocalTournament`, and stored tournaments that another process runs."""

import threading
from collections.abc import Collection, Iterator
from typing import Any

from rankduel.errors import UnknownTournament
from rankduel.live import standings
from rankduel.live.client_counts import ClientCounts, count_clients
from rankduel.live.results import Counts, Decided, Departure, LiveDecision, Meeting, Standing
from rankduel.live.rules.duels import DuelRow, numbers_of
from rankduel.live.rules.events import Event
from rankduel.live.rules.lifecycle import Rollout, Situation
from rankduel.live.rules.validation import brief, some_of
from rankduel.live.runtime.state import State, load_state
from rankduel.live.settings import Settings
from rankduel.live.storage.contract import Storage
from rankduel.live.view import View, view_of

__all__ = ["ReadOnlyTournament", "StoredTournament", "check_known"]


class ReadOnlyTournament:
    """The reading methods of `LocalTournament`."""

    def __init__(self, name: str, storage: Storage, state: State, lock: threading.RLock) -> None:
        self.name = name
        self.storage = storage
        self._state = state
        self._lock = lock  # held while the state is read or changed
        self._view: View | None = None

    @property
    def status(self) -> str:
        """`draft`, `running`, `paused`, `decided`, `rolled_out`, `stopped` or `archived`."""
        return self._state.status

    @property
    def rollout(self) -> Rollout | None:
        """The ranker that is rolled out, and the share of all traffic that sees it; None without a roll-out."""
        return self._state.rollout

    @property
    def users_see(self) -> str:
        """What users see now, in one sentence."""
        return self._situation().users_see

    def effects(self) -> dict[str, str]:
        """Return what users will see after each action that is possible now: a sentence by name of the action."""
        return self._situation().effects

    def after_roll_out(self, share: float, ranker: str | None = None) -> str:
        """Return what users would see after a roll-out, of the winner unless you name a ranker."""
        return self._situation().after_roll_out(Rollout(ranker or self.champion, share))

    def after_changes(self, **changes: Any) -> str:
        """Return what users would see after a change of share, baseline, dry run or `after_decision`."""
        return self._situation().after_changes(**changes)

    @property
    def failing(self) -> Exception | None:
        """The failure of the storage or the bandit, while users see the baseline; None if both work."""
        return None

    def _situation(self) -> Situation:
        with self._lock:
            return self._state.situation(failing=self.failing is not None)

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._state.settings

    @property
    def rankers(self) -> list[str]:
        """All rankers, eliminated and retired ones included, in the order in which they were added."""
        with self._lock:
            return list(self._state.rankers)

    @property
    def champion(self) -> str:
        """The current best guess."""
        with self._lock:
            return self._state.rankers[self._state.bandit.champion]

    @property
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""
        with self._lock:
            winner = self._state.bandit.winner
            return None if winner is None else self._state.rankers[winner]

    def decision(self) -> LiveDecision:
        """Return the winner, the tied rankers or the current leader. `str` puts it in words."""
        return standings.decision(self.view())

    def leaderboard(self) -> list[Standing]:
        """Return all rankers: the champion, the others left, the eliminated, the retired; each group by rating."""
        return standings.leaderboard(self.view())

    def timeline(self) -> list[Departure]:
        """Return the eliminated and retired rankers, in the order in which they left."""
        return standings.timeline(self.view())

    def preferences(self) -> list[Meeting]:
        """Return all pairs that have met, with the wins of each side."""
        return standings.preferences(self.view())

    def view(self) -> View:
        """Return a copy of everything learnt so far. Reports use the copy, so they do not hold the lock."""
        with self._lock:
            if self._view is None or self._view.number != self._state.number:
                self._view = view_of(self._state)
            return self._view

    @property
    def number(self) -> int:
        """The number of the last event that was applied."""
        return self._state.number

    @property
    def last_event_time(self) -> float:
        """The time of the last event: an outcome, or an action of an operator or a guardrail."""
        return self._state.time

    @property
    def resolved(self) -> int:
        """The number of outcomes that the bandit has learnt."""
        return self._state.bandit.told

    def duel_of_query(self, query_id: str) -> DuelRow | None:
        """Return the duel of a query, or None if it has none."""
        return self.storage.duels_of(self.name, [query_id]).get(query_id)

    @property
    def changed_at(self) -> int:
        """The number of the last event that is no outcome, or that made a decision; after an opening, at least that."""
        return self._state.changed_at

    def decisions(self) -> tuple[int, list[Decided]]:
        """Return the number of the last event that was applied, and the decisions that were made up to this event."""
        with self._lock:
            return self._state.number, list(self._state.decisions)

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """Return the latest duels, or the latest before the duel with the id `before`; newest first."""
        numbers = None if before is None else numbers_of(before)
        if before is not None and numbers is None:
            raise ValueError(f"before must be the id of a duel such as 3-17, got {brief(before)}")
        return self.storage.duels(self.name, limit, numbers)

    def journal(self, since: int = 0) -> Iterator[Event]:
        """Return all events after event number `since`, as stored."""
        return self.storage.read(self.name, since)

    def audit(self, limit: int = 100, before: int | None = None) -> list[Event]:
        """Return the actions of operators and guardrails, newest first: the journal without outcomes."""
        return self.storage.changes(self.name, limit, before)

    def resolved_since(self, time: float) -> int:
        """Return the number of duels resolved since a time."""
        return self.storage.resolved_since(self.name, time)

    def event_time(self, number: int) -> float | None:
        """Return the time of an event of the journal; None if it does not exist."""
        return self.storage.event_time(self.name, number)

    def count_clients(self, pairs: Collection[tuple[int, int]] = ()) -> ClientCounts:
        """Return the numbers of distinct clients, in all and for pairs of rankers. This reads all duels."""
        return count_clients(self.storage, self.name, pairs)


class StoredTournament(ReadOnlyTournament):
    """The stored state of a tournament when this object was made. Another process may be running it."""

    def __init__(self, name: str, storage: Storage) -> None:
        check_known(name, storage)
        super().__init__(name, storage, load_state(storage, name)[0], threading.RLock())
        self.counts = Counts.of(storage.counts(name))

    def close(self) -> None:
        """Close the storage."""
        self.storage.close()


def check_known(name: str, storage: Storage) -> None:
    """Raise UnknownTournament if a storage has no tournament with this name."""
    if name not in (known := storage.names()):
        known_names = some_of(known) or "none"
        raise UnknownTournament(f"unknown tournament {name!r} in {storage.url}; known tournaments: {known_names}")
