"""The past of a tournament: its state at an earlier time or after some outcomes, from its journal."""

from collections.abc import Iterator
from contextlib import suppress

from rankduel.errors import SnapshotError
from rankduel.live.runtime.snapshots import SNAPSHOT_INTERVAL_EVENTS
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Storage
from rankduel.live.view import View, view_of

__all__ = ["state_after", "view_at"]

# Two snapshots are kept, so this is enough to reach back to the older one. Replay takes less than a second.
_MAX_REPLAYED_EVENTS = 2 * SNAPSHOT_INTERVAL_EVENTS


def view_at(storage: Storage, name: str, time: float) -> View | None:
    """Return the view of a tournament at a time; None if that would replay more than 100,000 events."""
    state = _snapshot_before(storage, name, time)
    for replayed, event in enumerate(storage.read(name, 0 if state is None else state.number)):
        if event.time > time:
            break
        if replayed == _MAX_REPLAYED_EVENTS:
            return None
        if state is None:
            state = State.replay([event])
        else:
            state.apply(event)
    return None if state is None else view_of(state)


def state_after(storage: Storage, name: str, resolved: int) -> State:
    """Replay a tournament to its state after the first `resolved` outcomes. Raise ValueError if it has fewer."""
    state = next((state for state in _snapshots(storage, name) if state.bandit.told <= resolved), None)
    events = storage.read(name, 0 if state is None else state.number)
    if state is None:
        state = State.replay([next(events)])
    while state.bandit.told < resolved:
        event = next(events, None)
        if event is None:
            raise ValueError(f"tournament {name!r} has {state.bandit.told:,} outcomes, got resolved={resolved!r}")
        state.apply(event)
    return state


def _snapshot_before(storage: Storage, name: str, time: float) -> State | None:
    """Return the state of the newest snapshot taken at or before a time; None if there is none."""
    return next((state for state in _snapshots(storage, name) if state.time <= time), None)


def _snapshots(storage: Storage, name: str) -> Iterator[State]:
    """Yield the states of the undamaged snapshots, newest first."""
    for snapshot in storage.snapshots(name):
        with suppress(SnapshotError, ValueError, LookupError):
            yield State.from_snapshot(snapshot)
