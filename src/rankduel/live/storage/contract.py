"""The storage contract: the entries that can be written, what a storage must do, and how its address is opened."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from rankduel.errors import StorageError
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.events import Event

__all__ = [
    "REFERS_TO_DUEL",
    "Batch",
    "Change",
    "Committed",
    "Created",
    "Entry",
    "Fail",
    "Snapshot",
    "KeyRow",
    "CounterDelta",
    "Opened",
    "Show",
    "SignalRow",
    "Storage",
    "StorageBusy",
    "ExpireDue",
    "Tell",
    "TellResult",
    "Void",
    "storage_at",
    "tell_result",
]


class Created(NamedTuple):
    """Begin a tournament, unless it is there. The result is its first event."""

    time: float
    settings: dict[str, Any]


class Opened(NamedTuple):
    """A process begins to ask. The result is the number of its session, which no other one has."""


class Show(NamedTuple):
    """A page was shown. The result is a Status."""

    session: int
    number: int
    row: DuelRow | None  # as issued, where a ticket vouches for it
    page: str
    time: float


class Tell(NamedTuple):
    """An outcome, or None where there is nothing to learn. The result is a `TellResult`."""

    session: int
    number: int
    row: DuelRow | None  # as issued, where a ticket vouches for it
    outcome: str | None
    time: float
    page: str | None = None


class TellResult(NamedTuple):
    """How a tell is answered, and the outcome that is stored."""

    status: Status
    outcome: str | None


tell_result = cache(TellResult)  # there are few of them


class SignalRow(NamedTuple):
    """Something a user did on a page. The result is a Status: accepted, duplicate (by its `key`) or limit."""

    session: int
    number: int
    key: str
    time: float
    action: str
    object: str | None
    position: int | None
    dwell: float | None
    declared: bool = False  # whether attribution or a guardrail names its action. Not stored


class Change(NamedTuple):
    """What an operator does: an event for the journal. The result is the Event, or the ValueError why there is none."""

    time: float
    kind: str
    body: dict[str, Any]


class Void(NamedTuple):
    """A duel that shall not be learnt. The result is its state before; None if there is no such duel."""

    session: int
    number: int
    time: float
    body: dict[str, Any]


class Fail(NamedTuple):
    """A duel that cannot be resolved. The result is its state before; None if there is no such duel."""

    session: int
    number: int
    page: str  # as shown, as JSON, with the reason as `failure`


class ExpireDue(NamedTuple):
    """Let all duels expire whose time is over. The result is how many."""

    time: float


class Snapshot(NamedTuple):
    """A snapshot: a tournament as it was after `number` events. It saves their replay, and nothing else."""

    number: int
    state: str  # JSON
    bandit: bytes  # a snapshot of the bandit


class CounterDelta(NamedTuple):
    """Counters that are no state of a duel, such as asks answered with the baseline. No result."""

    counts: dict[str, int]


REFERS_TO_DUEL = (Tell, Show, SignalRow, Void, Fail)  # entries that name a duel
# A duel that was asked for is an entry itself. Its result is a duel: this one, or the one that its query has already.
Entry = DuelRow | Created | Opened | Show | Tell | SignalRow | Change | Void | Fail | ExpireDue | CounterDelta
Batch = Mapping[str, Sequence[Entry]]  # by tournament, in their order


class Committed(NamedTuple):
    """What became of a batch, by tournament: a result for each entry, and what has happened."""

    results: dict[str, list[Any]]
    events: dict[str, list[Event]]  # appended to the journals
    counts: dict[str, dict[str, int]]  # by how much the counters of duels have grown


class StorageBusy(StorageError):  # noqa: N818 - nothing is wrong: it is tried again
    """Another process holds a lock that a commit needs; nothing of the commit has happened."""


class KeyRow(NamedTuple):
    """An API key of the service, as it is stored: never the secret itself."""

    id: str
    name: str
    scopes: str  # separated by spaces
    digest: str
    created: float
    revoked: float | None = None


class Storage(Protocol):
    """The contract of a storage. A SQL backend subclasses `SqlStorage` and implements only what `Database` leaves open.

    The journal decides what the bandit has learnt; the duels decide which outcomes are still accepted.
    """

    shared: bool  # whether other processes write to it, too
    secret: bytes  # that signs tickets
    url: str
    damage: str | None  # what is known to be damaged; then nothing is written any more
    snapshot_damage: str | None  # the same of snapshots, which are not needed

    def commit(self, batch: Batch) -> Committed:
        """Write all entries of these tournaments or none; on return they are durable. One thread calls this."""

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Those of these tournaments that no other process has locked at this moment. One thread calls this."""

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """The events after number `since`, in their order."""

    def changes(self, tournament: str, limit: int, before: int | None = None) -> list[Event]:
        """The latest events that are no outcomes, or the latest before that number; newest first."""

    def resolved_since(self, tournament: str, time: float) -> int:
        """How many outcomes the journal has from a time on."""

    def duel(self, tournament: str, session: int, number: int) -> DuelRow | None:
        """The duel of that number."""

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, for those that have one; perhaps not of those written in the last moment."""

    def queries(self, tournament: str, after: str, limit: int) -> list[str]:
        """The queries that have a duel, in alphabetical order, after one of them or from "" on."""

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """The latest duels, or the latest ones before a session and number; newest first."""

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Duels that were shown, not told, and issued at that time or before."""

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether an `ExpireDue` would find something."""

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """What users did on the page of a duel, in the order of time."""

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """How many duels a client was issued since a time."""

    def counts(self, tournament: str) -> dict[str, int]:
        """The counters."""

    def last(self, tournament: str) -> int:
        """The number of the last event. Raises StorageError if the journal does not end with that event."""

    def write_snapshot(self, tournament: str, snapshot: Snapshot) -> None:
        """Write a snapshot, apart from all other writes."""

    def snapshots(self, tournament: str) -> Iterator[Snapshot]:
        """The snapshots that can be read and are undamaged, newest first."""

    def names(self) -> list[str]:
        """The tournaments, in alphabetical order."""

    def leads(self, tournament: str) -> bool:
        """Whether this process is the one that lets duels of this tournament expire and resolves them."""

    def resign(self, tournament: str) -> None:
        """Let another process lead a tournament."""

    def refresh_queries(self) -> None:
        """Let `duels_of` see everything that is durable now."""

    def run_maintenance(self) -> None:
        """Do what the storage needs now and then. Called four times a second."""

    def keys(self) -> list[KeyRow]:
        """The API keys."""

    def add_key(self, key: KeyRow) -> None:
        """Store a new API key."""

    def revoke_key(self, id: str, time: float) -> bool:
        """End an API key; False if there is no such key."""

    def close(self) -> None:
        """Let go of it, so that another process may have it."""


def storage_at(url: str, *, own: bool = True) -> Storage:
    """The storage at an address; it is made if it is not there. Without `own`, it is there for reading and for keys.

    >>> storage_at("duels.db")
    Traceback (most recent call last):
    ValueError: storage must be sqlite:///FILE or postgresql://..., got 'duels.db'
    """
    scheme, slashes, path = url.partition("://") if isinstance(url, str) else ("", "", "")
    if scheme == "sqlite" and path.startswith("/") and len(path) > 1:
        from rankduel.live.storage.sqlite import SqliteStorage  # noqa: PLC0415 - only what an address names is imported

        return SqliteStorage(path[1:], own=own)
    if scheme in ("postgresql", "postgres") and slashes:
        from rankduel.live.storage.postgres import PostgresStorage  # noqa: PLC0415

        return PostgresStorage(url, own=own)
    raise ValueError(f"storage must be sqlite:///FILE or postgresql://..., got {url!r}")
