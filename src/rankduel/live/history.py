"""Views of the past: what a tournament had learnt at an earlier time, to explain what it did then."""

from rankduel.errors import SnapshotError
from rankduel.live.runtime.snapshots import SNAPSHOT_INTERVAL_EVENTS
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Storage
from rankduel.live.view import View, view_of

__all__ = ["view_at"]

_MAX_REPLAYED_EVENTS = (
    2 * SNAPSHOT_INTERVAL_EVENTS
)  # events that are replayed, in less than a second: two snapshots are kept


def view_at(storage: Storage, name: str, time: float) -> View | None:
    """All that was learnt in a tournament up to a time; None if too much has happened since."""
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
    """The newest snapshot that is not younger."""
    for snapshot in storage.snapshots(name):
        try:
            state = State.from_snapshot(snapshot)
        except (SnapshotError, ValueError, LookupError):
            continue
        if state.time <= time:
            return state
    return None
