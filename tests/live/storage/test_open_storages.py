"""Storages that several tournaments of a process share: when they are released."""

import gc
import threading
from pathlib import Path

from rankduel.live import LocalTournament
from rankduel.live.storage import open_storages


def test_the_garbage_collector_never_waits_for_the_lock(tmp_path: Path) -> None:
    """It may run in a thread that a holder of the lock waits for. The next opening releases what was dropped."""
    url = f"sqlite:///{tmp_path}/duels.db"
    dropped = [LocalTournament.create("home", rankers=["a", "b"], storage=url)]
    writer = dropped[0]._runtime.writer

    def drop() -> None:
        dropped.clear()
        gc.collect()

    with open_storages._lock:
        thread = threading.Thread(target=drop, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    assert (writer, "home") in open_storages._dropped
    with LocalTournament.open("home", storage=url) as again:
        assert (writer, "home") not in open_storages._dropped
        assert again._runtime.writer is not writer
