"""A tournament as it is stored: looked at, and never changed, while another process may play it."""

from collections.abc import Iterator

from rankduel.errors import UnknownTournament
from rankduel.live import standing
from rankduel.live.answers import Counts, Departure, LiveDecision, Meeting, Standing
from rankduel.live.duels import DuelRow
from rankduel.live.events import Event
from rankduel.live.state import Settings
from rankduel.live.storage import Storage
from rankduel.live.tournament import restored

__all__ = ["StoredTournament"]


class StoredTournament:
    """The half of `Tournament` that only looks, at the moment when this was made."""

    def __init__(self, name: str, storage: Storage) -> None:
        if name not in (known := storage.names()):
            raise UnknownTournament(f"no tournament {name!r} in {storage.url}, which has {', '.join(known) or 'none'}")
        self.name = name
        self._storage = storage
        self._state = restored(storage, name)
        counts = storage.counts(name)
        self.counts = Counts(*(counts.get(counter, 0) for counter in Counts.__slots__))

    @property
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""
        return self._state.status

    @property
    def settings(self) -> Settings:
        """What it is made of, as it is now."""
        return self._state.settings

    @property
    def rankers(self) -> list[str]:
        """All rankers that ever took part, in the order in which they came."""
        return list(self._state.rankers)

    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or where it stands; by `str` in words."""
        return standing.decision(self._state)

    def leaderboard(self) -> list[Standing]:
        """All rankers, the best guess first."""
        return standing.leaderboard(self._state)

    def timeline(self) -> list[Departure]:
        """The rankers that are out, in the order in which they went."""
        return standing.timeline(self._state)

    def preferences(self) -> list[Meeting]:
        """All pairs that have met, and how often each won."""
        return list(standing.preferences(self._state))

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """The latest duels, or the latest before the one of that id; newest first."""
        session, _, number = (before or "").partition("-")
        return self._storage.duels(self.name, limit, (int(session), int(number)) if before else None)

    def journal(self, since: int = 0) -> Iterator[Event]:
        """All that has happened after event number `since`, as it is stored."""
        return self._storage.read(self.name, since)

    def close(self) -> None:
        """Let go of the storage."""
        self._storage.close()
