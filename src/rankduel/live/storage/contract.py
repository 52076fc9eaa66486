"""The storage contract: the entries to write, the methods of a storage, and how to open one by its address.

To add a backend, implement `Database` (schema.py) and its `Statements` (shared_statements.py) in a subclass of
`SqlStorage` (sql.py), and open it in `storage_at`. Then change the code that knows only SQLite and PostgreSQL:
`is_postgres` in live/admin/sqlite_files.py and its callers (backup.py, migrate.py, retention.py and verify.py next to
it, and `_prune` in cli/storage.py), `MIGRATIONS` in live/admin/migrate.py, `_storage` in cli/doctor.py, and `serve` in
service/server.py. Add the backend to tests/live/storage/test_contract.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from rankduel.errors import StorageError, UnknownTournament
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.events import Event

__all__ = [
    "REFERS_TO_DUEL",
    "Batch",
    "Change",
    "Committed",
    "Created",
    "Delete",
    "DeleteRows",
    "Entry",
    "Fail",
    "Snapshot",
    "KeyRow",
    "CounterDelta",
    "Opened",
    "Remove",
    "Show",
    "SignalRow",
    "Storage",
    "StorageBusy",
    "StorageInUse",
    "ExpireDue",
    "Tell",
    "TellResult",
    "Void",
    "storage_at",
    "tell_result",
]


class Created(NamedTuple):
    """Create a tournament. The result is its first event; None if it already exists."""

    time: float
    settings: dict[str, Any]


class Opened(NamedTuple):
    """Begin a session. The result is its unique number."""


class Show(NamedTuple):
    """Report a shown page. The result is a Status."""

    session: int
    number: int
    row: DuelRow | None  # as issued, if a ticket proves it
    page: str
    time: float


class Tell(NamedTuple):
    """Store an outcome, or None if there is nothing to learn. The result is a `TellResult`."""

    session: int
    number: int
    row: DuelRow | None  # as issued, if a ticket proves it
    outcome: str | None
    time: float
    page: str | None = None


class TellResult(NamedTuple):
    """The status of a tell, and the stored outcome."""

    status: Status
    outcome: str | None


tell_result = cache(TellResult)  # there are only a few different ones


class SignalRow(NamedTuple):
    """Store a signal. The result is a Status: accepted, duplicate (by its `key`), late, unknown or limit."""

    session: int
    number: int
    key: str
    time: float
    action: str
    object: str | None
    position: int | None
    dwell: float | None
    declared: bool = False  # whether attribution or a guardrail names its action; not stored


class Change(NamedTuple):
    """Append an action of an operator to the journal. The result is the Event, or a ValueError if it was rejected."""

    time: float
    kind: str
    body: dict[str, Any]


class Void(NamedTuple):
    """Declare a duel void. The result is its state before; None for an unknown duel."""

    session: int
    number: int
    time: float
    body: dict[str, Any]


class Fail(NamedTuple):
    """Mark a duel that cannot be resolved as failed. The result is its state before; None for an unknown duel."""

    session: int
    number: int
    page: str  # the shown page as JSON, with the reason in the field `failure`


class ExpireDue(NamedTuple):
    """Expire all overdue duels. The result is their number."""

    time: float


class Remove(NamedTuple):
    """Remove the pages, signals and clients of duels. The result is the number of duels for which this was done.

    Open duels are left alone. For an erasure, they become void instead, and the journal records it.
    """

    duels: tuple[tuple[int, int], ...]  # session and number of each
    query_ids: bool  # whether to remove query ids, too
    time: float = 0.0
    erasure: dict[str, Any] | None = None  # the reason and the operator


class Delete(NamedTuple):
    """Delete the tournament: its name is free at once. `DeleteRows` removes its rows. No result."""


class DeleteRows(NamedTuple):
    """Remove some rows of a deleted tournament. The result is their number; 0: nothing is left."""


class Snapshot(NamedTuple):
    """The state of a tournament after `number` events. It only shortens replay."""

    number: int
    state: str  # JSON
    bandit: bytes  # a snapshot of the bandit


class CounterDelta(NamedTuple):
    """Add to counters other than the states of duels, such as asks answered with the baseline. No result."""

    counts: dict[str, int]


REFERS_TO_DUEL = (Tell, Show, SignalRow, Void, Fail)  # entries that name a duel
# A new duel is an entry too, as a `DuelRow`. Its result is a duel: this one, or the duel that its query already has.
Entry = (
    DuelRow
    | Created
    | Opened
    | Show
    | Tell
    | SignalRow
    | Change
    | Void
    | Fail
    | ExpireDue
    | CounterDelta
    | Remove
    | Delete
    | DeleteRows
)
Batch = Mapping[str, Sequence[Entry]]  # by tournament, in order


class Committed(NamedTuple):
    """The results of a commit, by tournament."""

    results: dict[str, list[Any]]  # one for each entry
    events: dict[str, list[Event]]  # appended to the journals
    counts: dict[str, dict[str, int]]  # the growth of the counters
    unknown: Mapping[str, UnknownTournament] = MappingProxyType({})  # deleted tournaments, which have no results


class StorageBusy(StorageError):  # noqa: N818 - not an error: the commit is retried
    """Another process holds a lock that a commit needs. The commit had no effect."""


class StorageInUse(StorageError):  # noqa: N818
    """Another process owns the storage."""


class KeyRow(NamedTuple):
    """A stored API key of the service. It contains only a digest of the secret."""

    id: str
    name: str
    scopes: str  # separated by spaces
    digest: str
    created: float
    revoked: float | None = None


class Storage(Protocol):
    """The interface of a storage. A SQL backend subclasses `SqlStorage` and implements `Database`.

    The journal determines what the bandit has learnt. The table of duels determines which outcomes are still accepted.
    """

    shared: bool  # whether other processes write to it too
    secret: bytes  # signs tickets
    url: str
    damage: str | None  # known damage; nothing is written any more
    snapshot_damage: str | None  # known damage of the snapshots, which are not needed

    def commit(self, batch: Batch) -> Committed:
        """Write all entries or none. They are durable when this returns. Only one thread calls this."""

    def check_writable(self) -> None:
        """Write a row durably. Raise StorageError if that fails."""

    def unlocked(self, tournaments: set[str]) -> set[str]:
        """Return the tournaments that no other process has locked now. Only one thread calls this."""

    def read(self, tournament: str, since: int = 0) -> Iterator[Event]:
        """Yield the events after number `since`, in order."""

    def changes(self, tournament: str, limit: int, before: int | None = None) -> list[Event]:
        """Return the latest events other than outcomes, before event number `before` if given; newest first."""

    def changes_after(self, tournament: str, number: int, limit: int) -> list[Event]:
        """Return the events other than outcomes after an event number, oldest first."""

    def event_time(self, tournament: str, number: int) -> float | None:
        """Return the time of an event; None if it does not exist."""

    def resolved_since(self, tournament: str, time: float) -> int:
        """Return the number of outcomes in the journal since a time."""

    def duel(self, tournament: str, session: int, number: int) -> DuelRow | None:
        """Return a duel by session and number; None if it does not exist."""

    def duels_of(self, tournament: str, queries: list[str]) -> dict[str, DuelRow]:
        """Return the duels of queries that have one. Duels of the last 0.05 s may be missing."""

    def queries(self, tournament: str, after: str, limit: int) -> list[str]:
        """Return queries that have a duel, in alphabetical order, after the query `after`."""

    def duels(self, tournament: str, limit: int, before: tuple[int, int] | None = None) -> list[DuelRow]:
        """Return the latest duels, before a session and number if given; newest first."""

    def due(self, tournament: str, issued_until: float, limit: int) -> list[DuelRow]:
        """Return the duels in the state `shown` that were issued at or before a time, oldest first."""

    def overdue(self, tournament: str, time: float) -> bool:
        """Whether an `ExpireDue` would expire any duel."""

    def old_duels(self, tournament: str, issued_before: float, limit: int) -> list[tuple[int, int]]:
        """Return session and number of finished duels that still have personal data, oldest first."""

    def count_old_duels(self, tournament: str, issued_before: float) -> int:
        """Return the number of duels that `old_duels` would return without a limit."""

    def pruned_with_query(
        self, tournament: str, issued_before: float, after: str, limit: int
    ) -> list[tuple[str, int, int]]:
        """Return query, session and number of pruned duels that have a query after `after`, in alphabetical order."""

    def count_pruned_with_query(self, tournament: str, issued_before: float) -> int:
        """Return the number of pruned duels that have a query."""

    def duels_of_client(self, tournament: str, client: str, limit: int) -> list[tuple[int, int]]:
        """Return session and number of duels of a client, given by its hash."""

    def clients_of_duels(self, tournament: str) -> Iterator[list[tuple[int, int, str | None]]]:
        """Yield first, second and hashed client of all resolved duels, many at a time. A client may be None."""

    def signals(self, tournament: str, session: int, number: int) -> list[SignalRow]:
        """Return the signals of a duel, in order of time."""

    def asked_by(self, tournament: str, client: str, since: float) -> int:
        """Return the number of duels issued to a client since a time."""

    def counts(self, tournament: str) -> dict[str, int]:
        """Return all counters."""

    def last(self, tournament: str) -> int:
        """Return the number of the last event. Raise StorageError if the journal does not end with it."""

    def write_snapshot(self, tournament: str, snapshot: Snapshot) -> None:
        """Write a snapshot in a transaction of its own."""

    def snapshots(self, tournament: str) -> Iterator[Snapshot]:
        """Yield the undamaged snapshots, newest first."""

    def names(self) -> list[str]:
        """Return the names of all tournaments, in alphabetical order."""

    def deleted_names(self) -> list[str]:
        """Return the names under which deleted tournaments wait until their rows are removed."""

    def deleted(self) -> set[str]:
        """Return the tournaments that this process has used and that were deleted, by any process."""

    def forget(self, tournament: str) -> None:
        """Forget what is cached of a tournament, because it was deleted."""

    def tournament_id(self, tournament: str) -> int:
        """Return the id of a tournament; -1 if it does not exist. Later tournaments have larger ids."""

    def leads(self, tournament: str) -> bool:
        """Whether this process leads: it resolves and expires duels, checks guardrails and takes snapshots."""

    def resign(self, tournament: str) -> None:
        """Let another process lead a tournament."""

    def refresh_queries(self) -> None:
        """Let the next `duels_of` see everything that is durable now."""

    def run_maintenance(self) -> None:
        """Run maintenance of the storage. Called four times a second."""

    def redacted(self, message: str) -> str:
        """Return a message without the address of the storage, which only operators may see."""

    def fact(self, name: str) -> str | None:
        """Return a stored fact by its name; None if it does not exist."""

    def write_fact(self, name: str, value: str) -> None:
        """Write a fact in a transaction of its own."""

    def keys(self) -> list[KeyRow]:
        """Return all API keys, revoked ones included."""

    def add_key(self, key: KeyRow) -> None:
        """Store a new API key."""

    def revoke_key(self, id: str, time: float) -> bool:
        """Revoke an API key. Return False if there is no such active key."""

    def close(self) -> None:
        """Close the storage, so that another process can open it."""


def storage_at(url: str, *, own: bool = True, create: bool = True) -> Storage:
    """Open the storage at an address. Without `own`, only for reading and for API keys.

    If it does not exist, it is created with `own` and `create`. Otherwise that is a StorageError.

    >>> storage_at("duels.db")
    Traceback (most recent call last):
    ValueError: storage must be sqlite:///FILE or postgresql://..., got 'duels.db'
    """
    scheme, slashes, path = url.partition("://") if isinstance(url, str) else ("", "", "")
    if scheme == "sqlite" and path.startswith("/") and len(path) > 1:
        from rankduel.live.storage.sqlite import SqliteStorage  # noqa: PLC0415 - import only the backend in use

        return SqliteStorage(path[1:], own=own, create=create)
    if scheme in ("postgresql", "postgres") and slashes:
        from rankduel.live.storage.postgres import PostgresStorage  # noqa: PLC0415

        return PostgresStorage(url, own=own, create=create)
    raise ValueError(f"storage must be sqlite:///FILE or postgresql://..., got {url!r}")
