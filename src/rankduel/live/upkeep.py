"""Care of a storage: a copy of it while it runs, whether it is whole, and the step to a newer version."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from rankduel.errors import StorageError
from rankduel.live.database import SCHEMA
from rankduel.live.duels import DuelRow
from rankduel.live.events import Event
from rankduel.live.sql import SqlStorage
from rankduel.live.sqlite import OURS, SqliteStorage, lock_file
from rankduel.live.state import State
from rankduel.live.storage import storage_at

__all__ = ["MIGRATIONS", "Finding", "backup", "upgrade", "verify"]

# What leads from a schema to the next one, as SQL for both databases: {1: {"sqlite": "ALTER ...", "postgres": "..."}}
MIGRATIONS: dict[int, dict[str, str]] = {}
_AHEAD = 1_000_000  # sessions
_CHUNK = 5_000  # duels looked up at once


class Finding(NamedTuple):
    """One thing that was looked at: `level` is ok, warning or error, `told` what was found and what to do about it."""

    level: str
    about: str
    told: str


# A copy


def backup(url: str, to: Path) -> int:
    """Copy a SQLite storage to a new file, while it is in use; its size in bytes.

    The copy is the storage as it was at one moment, is checked, and has its name only when it is whole and durable. Its
    sessions are far ahead: no id of a duel that the original gives after this moment is given again by the copy.
    """
    if _is_postgres(url):
        raise ValueError("a PostgreSQL storage is copied by pg_dump")
    source = _file_of(url)
    to = Path(to).absolute()
    if to.exists():
        raise StorageError(f"{to} is there already: a backup overwrites nothing")
    part = to.with_name(f"{to.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # the secret that signs tickets is in it
        with closing(_read_only(source)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)  # all in one step: writers go on meanwhile, and this sees none of them
            with new:
                new.execute("UPDATE tournaments SET session = session + ?", (_AHEAD,))
            _check_pages(new, part)
        _sync(part)
        os.link(part, to)  # unlike a rename, this replaces nothing
        part.unlink()
        _sync(to.parent)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot copy {source} to {to}: {error}") from error
    return to.stat().st_size


# Whether it is whole


def verify(url: str) -> Iterator[Finding]:
    """Look at everything in a storage, which may be in use: pages, journals, snapshots, and the duels beside them.

    Damage is a finding and never an exception.
    """
    if not _is_postgres(url):
        _file_of(url)
    try:
        storage = storage_at(url, own=False)
    except StorageError as error:
        if _is_postgres(url):
            raise
        yield Finding("error", "storage", str(error))
        return
    assert isinstance(storage, SqlStorage)
    with closing(storage):
        if isinstance(storage, SqliteStorage):
            yield _pages(storage)
        else:
            storage.select("SELECT set_config('statement_timeout', '0', false)")  # much is read at once
        try:
            names = storage.names()
        except (StorageError, TypeError) as error:
            yield Finding("error", "tournaments", f"{error}. Go back to a backup")
            return
        if not names:
            yield Finding("ok", "tournaments", "there are none")
        for name in names:
            try:
                yield from _Check(storage, name).findings()
            except (StorageError, ValueError, TypeError, LookupError) as error:  # a damaged row may have any values
                yield Finding("error", f"tournament {name!r}", f"{error}. Go back to a backup")


def _pages(storage: SqliteStorage) -> Finding:
    try:
        wrong = [str(row[0]) for row in storage.select("PRAGMA integrity_check(5)") if row[0] != "ok"]
    except StorageError as error:
        wrong = [str(error)]
    if wrong:
        return Finding("error", "file", f"it is damaged: {'; '.join(wrong)}. Go back to a backup")
    return Finding("ok", "file", "all pages are sound")


class _Check:
    """One tournament, its journal read once from the first event to the last."""

    def __init__(self, storage: SqlStorage, name: str) -> None:
        self.storage = storage
        self.name = name
        ((self.owner, self.promised),) = storage.select("SELECT id, number FROM tournaments WHERE name = ?", (name,))
        self.wrong_duels: list[str] = []
        self.snapshot: Finding | None = None

    def findings(self) -> Iterator[Finding]:
        try:
            state = self._replay()
        except StorageError as error:
            yield self._finding("error", f"{error}. Go back to a backup")
            return
        yield self._finding("ok", f"{state.number} events without a gap, replayed")
        if state.number < self.promised:
            yield self._finding("error", f"{self.promised} events were acknowledged, {state.number} are there")
        yield self.snapshot or self._finding("ok", "no snapshot yet")
        yield from self._damaged_snapshots()
        yield from self._duels()

    def _finding(self, level: str, told: str) -> Finding:
        return Finding(level, f"tournament {self.name!r}", told)

    def _replay(self) -> State:
        kept = next(iter(self.storage.kept(self.name)), None)
        events = self.storage.read(self.name)
        created = next(events, None)
        if created is None:
            raise StorageError("its journal is empty")
        told: list[Event] = []
        try:
            state = State.replay([created])
            for event in events:
                if event.time < state.time:
                    raise StorageError(f"event {event.number} is older than the one before it")
                state.apply(event)
                if kept is not None and event.number == kept.number:
                    same = _learnt(State.from_kept(kept)) == _learnt(state)
                    told_of = f"the snapshot at event {kept.number}"
                    self.snapshot = (
                        self._finding("ok", f"{told_of} is what replay gives")
                        if same
                        else self._finding("error", f"{told_of} differs from replay")
                    )
                if event.kind == "told":
                    told.append(event)
                if len(told) >= _CHUNK:
                    self._compare(told)
                    told.clear()
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"an event cannot be replayed: {error!r}") from error
        self._compare(told)
        if kept is not None and kept.number > state.number:
            self.snapshot = self._finding("error", f"a snapshot at event {kept.number}, and no such event")
        return state

    def _compare(self, told: list[Event]) -> None:
        """Each outcome that was learnt is that of its duel."""
        sessions: dict[int, dict[int, Event]] = {}
        for event in told:
            session, _, number = event.body["duel"].partition("-")
            sessions.setdefault(int(session), {})[int(number)] = event
        for session, events in sessions.items():
            rows = self.storage.select(self.storage.find_numbers, (json.dumps(list(events)), self.owner, session))
            stored = {row.number: row for row in map(DuelRow._make, rows)}
            for number, event in events.items():
                body, row = event.body, stored.get(number)
                learnt = (body["first"], body["second"], "told", body["outcome"])
                if row is None or (row.first, row.second, row.state, row.outcome) != learnt:
                    self.wrong_duels.append(body["duel"])

    def _damaged_snapshots(self) -> Iterator[Finding]:
        if self.storage.snapshot_damage is not None:
            yield self._finding("error", f"{self.storage.snapshot_damage}. Go back to a backup")
            return
        there = self._snapshots()
        damaged = there - {kept.number for kept in self.storage.kept(self.name)}
        damaged &= self._snapshots()  # one that has made way for a newer one meanwhile is not damaged
        if damaged:
            told = f"{len(damaged)} of {len(there)} snapshots are damaged: the next start takes longer"
            yield self._finding("warning", told)

    def _snapshots(self) -> set[int]:
        rows = self.storage.select("SELECT number FROM snapshots WHERE tournament = ?", (self.owner,), snapshots=True)
        return {number for (number,) in rows}

    def _duels(self) -> Iterator[Finding]:
        """The table of duels is the index of the journal: what both count must be the same, in one look at both."""
        counted: dict[tuple[str, str], int] = {}
        for place, what, many in self.storage.select(
            "SELECT 'duels', state, count(*) FROM duels WHERE tournament = ? GROUP BY state "
            "UNION ALL SELECT 'journal', kind, count(*) FROM journal WHERE tournament = ? GROUP BY kind "
            "UNION ALL SELECT 'counters', name, value FROM counters WHERE tournament = ?",
            (self.owner, self.owner, self.owner),
        ):
            counted[place, what] = int(many)

        def count(place: str, *words: str) -> int:
            return sum(counted.get((place, word), 0) for word in words)

        total = sum(number for (place, _), number in counted.items() if place == "duels")
        wrong = [f"duel {duel} is not as the journal has it" for duel in self.wrong_duels[:5]]
        for what, table, other in (
            ("told, in the journal", count("duels", "told"), count("journal", "told")),
            ("issued, by the counters", total, count("counters", "issued")),
            ("told, by the counters", count("duels", "told"), count("counters", "told")),
            ("without a signal, by the counters", count("duels", "no_signal"), count("counters", "no_signal")),
            ("expired, by the counters", count("duels", "expired", "late"), count("counters", "expired")),
            ("void, by the counters", count("duels", "void"), count("counters", "void")),
            ("failed, by the counters", count("duels", "failed"), count("counters", "failed")),
        ):
            if table != other:
                wrong.append(f"{table} duels {what} {other}")
        for told in wrong:
            yield self._finding("error", told)
        if not wrong:
            yield self._finding("ok", f"{total} duels, as the journal and the counters have them")


def _learnt(state: State) -> dict[str, Any]:
    """All that events decide. Caches of the bandit, and where its random stream stands, are no part of it."""
    bandit = state.bandit
    kept: dict[str, Any] = json.loads(state.keep().state)
    return kept | {"told": bandit.told, "champion": bandit.champion, "decision": repr(bandit.decision())}


# A newer version


def upgrade(url: str) -> tuple[int, int]:
    """Bring a storage that nobody uses to the schema of this version; from which to which.

    Each step is one transaction: whatever happens, the storage has the schema before it or the one after it.
    """
    if _is_postgres(url):
        from rankduel.live.postgres import migrate  # noqa: PLC0415 - needs an extra

        return migrate(url, {schema: steps["postgres"] for schema, steps in MIGRATIONS.items()})
    path = _file_of(url)
    lock = lock_file(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return _migrate(connection, path)
    except sqlite3.Error as error:
        raise StorageError(f"cannot upgrade {path}: {error}") from error
    finally:
        os.close(lock)


def _migrate(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    connection.execute("PRAGMA synchronous = FULL")
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    if ours != OURS:
        raise StorageError(f"{path} is a SQLite file, but not one of rankduel")
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    if before > SCHEMA:
        raise StorageError(f"{path} has schema {before}, this version of rankduel knows {SCHEMA} at most")
    for schema in range(before, SCHEMA):
        if schema not in MIGRATIONS:
            raise StorageError(f"{path} has schema {schema}, from which there is no way to {SCHEMA}")
        _check_pages(connection, path)
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[schema]['sqlite']}; PRAGMA user_version = {schema + 1}; COMMIT;"
        )
    return before, SCHEMA


def _is_postgres(url: object) -> bool:
    return isinstance(url, str) and url.startswith(("postgresql://", "postgres://"))


def _file_of(url: str) -> Path:
    """The file of a SQLite storage that is there."""
    scheme, _, path = url.partition(":///") if isinstance(url, str) else ("", "", "")
    if scheme != "sqlite" or not path:
        raise ValueError(f"storage must be sqlite:///FILE, got {url!r}")
    file = Path(path).absolute()
    if not file.exists():
        raise StorageError(f"no storage at {file}")
    return file


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    ((told,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if told != "ok":
        raise StorageError(f"{path} is damaged: {told}")


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
