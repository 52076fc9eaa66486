"""Delete a tournament: its name is free at once, then its rows go in small batches that delay no other write."""

import time

from rankduel.live.runtime.state import load_state
from rankduel.live.storage.contract import Delete, DeleteRows
from rankduel.live.storage.writer import Writer

__all__ = ["check_confirmed", "delete_tournament", "remove_deleted"]

_NOTICE_SECONDS = 1.0  # other processes that use the tournament notice in 0.25 s, and then write no rows any more


def check_confirmed(name: str, confirm: object) -> None:
    """Raise ValueError unless a deletion is confirmed by the name of the tournament."""
    if confirm != name:
        raise ValueError(f"to delete tournament {name!r}, confirm its name; got {confirm!r}")


def delete_tournament(writer: Writer, name: str) -> None:
    """Delete a tournament that no one in this process uses. Raise ValueError unless its status allows it."""
    state, _ = load_state(writer.storage, name)
    if (refusal := state.situation().refusal("delete")) is not None:
        raise ValueError(f"tournament {name!r} {refusal}")
    writer.put(name, [Delete()]).result()
    if writer.storage.shared:
        time.sleep(_NOTICE_SECONDS)
    remove_deleted(writer)


def remove_deleted(writer: Writer) -> None:
    """Remove the rows of deleted tournaments, also of those whose deletion a crash has interrupted."""
    for name in writer.storage.deleted_names():
        while writer.put(name, [DeleteRows()]).result()[0]:
            pass
