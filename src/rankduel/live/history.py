"""Views of the past: the state of a tournament at an earlier time, to explain its decisions."""

from rankduel.errors import SnapshotError
from rankduel.live.runtime.snapshots import SNAPSHOT_INTERVAL_EVENTS
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Storage
from rankduel.live.view import View, view_of

__all__ = ["view_at"]

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


def _snapshot_before(storage: Storage, name: str, time: float) -> State | None:
    """Return the state of the newest snapshot taken at or before a time; None if there is none."""
    for snapshot in storage.snapshots(name):
        try:
            state = State.from_snapshot(snapshot)
        except (SnapshotError, ValueError, LookupError):
            continue
        if state.time <= time:
            return state
    return None
