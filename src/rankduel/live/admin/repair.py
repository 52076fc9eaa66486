"""Repair a journal: quarantine the events that cannot be replayed, so that the tournament opens again."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from time import time as now
from typing import Any, NamedTuple

from rankduel.errors import StorageError
from rankduel.live.admin.findings import Finding, restore_backup
from rankduel.live.rules.duels import numbers_of
from rankduel.live.rules.events import Event
from rankduel.live.runtime.state import State
from rankduel.live.settings import Settings
from rankduel.live.storage.contract import storage_at
from rankduel.live.storage.schema import text
from rankduel.live.storage.shared_statements import ADD_COUNTERS, EVENTS_AFTER
from rankduel.live.storage.sql import SqlStorage

__all__ = ["repair"]

_MAX_ROWS_PER_READ = 10_000
_BY = "rankduel storage verify --repair"
_STATES = {
    "issued": (),
    "shown": (),
    "late": ("late", "expired"),
}  # their counters; other states have one of their name

_DELETE_DUELS_OF_UNKNOWN_RANKERS = (
    "DELETE FROM duels WHERE tournament = $1 AND (first >= $2 OR second >= $2) RETURNING state, outcome"
)
_QUARANTINE_EVENT = "UPDATE journal SET kind = 'quarantined', body = $1 WHERE tournament = $2 AND number = $3"
_DELETE_SNAPSHOTS_FROM = "DELETE FROM snapshots WHERE tournament = $1 AND number >= $2"
_OUTCOME_OF_DUEL = (
    "SELECT outcome FROM duels WHERE tournament = $1 AND session = $2 AND number = $3 AND state = 'resolved'"
)
_VOID_DUEL = (
    "UPDATE duels SET state = 'void', outcome = NULL "
    "WHERE tournament = $1 AND session = $2 AND number = $3 AND state = 'resolved'"
)


class _Bad(NamedTuple):
    """An event that cannot be replayed, as stored, with the reason."""

    number: int
    kind: str
    body: str
    reason: str


def repair(url: str) -> Iterator[Finding]:
    """Quarantine each event that cannot be replayed. No other process may have the storage open.

    A quarantined event stays in the journal under its number, with the kind `quarantined`, its content and the reason.
    The audit log shows it. Its duel becomes void. Duels of rankers that the journal does not name are deleted.

    The counters of duels are corrected. The counters `pages` and `delay ...` do not change: the pages were shown and
    the tells took that long, also for a duel that is now void.
    """
    storage = storage_at(url)
    assert isinstance(storage, SqlStorage)
    with closing(storage):
        for name in storage.names():
            about = f"tournament {name!r}"
            try:
                bad, rankers = _bad_events(storage, name)
            except StorageError as error:
                yield Finding("error", about, restore_backup(error))
                continue
            deleted = _set_aside(storage, name, bad, rankers)
            for event in bad:
                yield Finding("warning", about, f"quarantined event {event.number} ({event.kind}): {event.reason}")
            if deleted:
                yield Finding("warning", about, f"deleted {deleted} duels of unknown rankers")


def _bad_events(storage: SqlStorage, name: str) -> tuple[list[_Bad], int]:
    """Return the events that cannot be replayed, and the number of rankers that the other events name.

    An event that fails may have changed part of the state. So the journal is replayed again without the events that
    failed, until no further event fails.
    """
    bad: dict[int, _Bad] = {}
    while True:
        known_bad = len(bad)
        state: State | None = None
        for number, time, kind, body in _rows(storage, name):
            if number in bad:
                continue
            try:
                event = Event(number, time, kind, json.loads(body))
                if state is None:
                    state = State(Settings.from_dict(event.body))
                else:
                    state.apply(event)
            except Exception as error:
                if number == 1:
                    raise StorageError(f"the first event cannot be replayed: {error}") from error
                bad[number] = _Bad(number, kind, body, f"{type(error).__name__}: {error}"[:500])
        if state is None:
            raise StorageError("the journal is empty")
        if len(bad) == known_bad:
            return sorted(bad.values()), len(state.rankers)


def _rows(storage: SqlStorage, name: str) -> Iterator[tuple[int, float, str, str]]:
    """Yield the stored rows of the journal. Raise StorageError at a gap, which cannot be repaired."""
    last = 0
    while rows := storage.select(EVENTS_AFTER, (storage.tournament_id(name), last, _MAX_ROWS_PER_READ)):
        for number, time, kind, body in rows:
            last += 1
            if number != last:
                raise StorageError(f"event {last} is missing")
            yield number, time, kind, body


def _set_aside(storage: SqlStorage, name: str, bad: list[_Bad], rankers: int) -> int:
    """Quarantine events, delete duels of unknown rankers and correct the counters. Return the number of deletions."""
    id = storage.tournament_id(name)
    counts: Counter[str] = Counter()
    with storage.transaction():
        deleted = storage.fetch(_DELETE_DUELS_OF_UNKNOWN_RANKERS, (id, rankers))
        for state, outcome in deleted:
            counts.subtract(_counted(state, outcome))
            counts["issued"] -= 1
        for event in bad:
            body = {"kind": event.kind, "body": _json(event.body), "reason": event.reason, "by": _BY, "time": now()}
            storage.write(_QUARANTINE_EVENT, (text(body), id, event.number))
            counts.update(_void_duel(storage, id, body["body"]) if event.kind == "resolved" else {})
        if bad:
            storage.write(_DELETE_SNAPSHOTS_FROM, (id, bad[0].number))
        if counts:
            storage.write_rows(ADD_COUNTERS, [(id, counter, by) for counter, by in counts.items()])
    return len(deleted)


def _void_duel(storage: SqlStorage, id: int, body: Any) -> dict[str, int]:
    """Make the duel of a quarantined outcome void. Return the changes of counters."""
    numbers = numbers_of(body["duel"]) if isinstance(body, dict) and isinstance(body.get("duel"), str) else None
    if numbers is None:
        return {}
    found = storage.fetch(_OUTCOME_OF_DUEL, (id, *numbers))
    if not found:
        return {}
    storage.write(_VOID_DUEL, (id, *numbers))
    return dict.fromkeys(_counted("resolved", found[0][0]), -1) | {"void": 1}


def _counted(state: str, outcome: str | None) -> tuple[str, ...]:
    """Return the counters that count a duel in a state."""
    return ("resolved", f"outcome {outcome}") if state == "resolved" else _STATES.get(state, (state,))


def _json(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body
