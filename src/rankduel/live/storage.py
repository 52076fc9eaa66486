"""Where tournaments are kept: what a storage must be able to do, and how one is found by its address."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from rankduel.live.events import DuelRow, Event

__all__ = ["Entry", "Kept", "Storage", "storage_at"]


class Kept(NamedTuple):
    """A tournament as it was after so many events: it saves their replay, and nothing else."""

    number: int
    state: str  # JSON
    bandit: bytes  # a snapshot of the bandit


class Entry(NamedTuple):
    """Something to write for a tournament, known by its name."""

    tournament: str
    what: Event | Kept


class Storage(Protocol):
    """A durable place. The journal is the truth; duels by number and query are an index of it; snapshots save time."""

    def append(self, batch: Sequence[Entry]) -> None:
        """Write all entries or none; on return they are durable. One thread calls this."""

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""

    def duel(self, tournament: str, number: int) -> DuelRow | None:
        """The duel of that number."""

    def duel_of(self, tournament: str, query: str) -> DuelRow | None:
        """The duel of that query."""

    def kept(self, tournament: str) -> Iterator[Kept]:
        """The undamaged snapshots, newest first."""

    def names(self) -> list[str]:
        """The tournaments, in alphabetical order."""

    def close(self) -> None:
        """Let go of it, so that another process may have it."""


def storage_at(url: str) -> Storage:
    """The storage at an address; it is made if it is not there.

    >>> storage_at("duels.db")
    Traceback (most recent call last):
    ValueError: storage must be sqlite:///FILE, got 'duels.db'
    """
    from rankduel.live.sqlite import SqliteStorage  # noqa: PLC0415 - only what an address names is imported

    scheme, _, path = url.partition(":///") if isinstance(url, str) else ("", "", "")
    if scheme != "sqlite" or not path:
        raise ValueError(f"storage must be sqlite:///FILE, got {url!r}")
    return SqliteStorage(path)
