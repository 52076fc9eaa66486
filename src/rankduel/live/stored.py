"""A tournament as it is stored: looked at, and never changed, while another process may play it."""

import threading

from rankduel.errors import UnknownTournament
from rankduel.live.answers import Counts
from rankduel.live.seen import Seen
from rankduel.live.state import restored
from rankduel.live.storage import Storage

__all__ = ["StoredTournament", "check_known"]


class StoredTournament(Seen):
    """At the moment when this was made."""

    def __init__(self, name: str, storage: Storage) -> None:
        check_known(name, storage)
        super().__init__(name, storage, restored(storage, name)[0], threading.RLock())
        self.counts = Counts.of(storage.counts(name))

    def close(self) -> None:
        """Let go of the storage."""
        self.storage.close()


def check_known(name: str, storage: Storage) -> None:
    """Raise UnknownTournament if a storage has no tournament of that name."""
    if name not in (known := storage.names()):
        raise UnknownTournament(f"no tournament {name!r} in {storage.url}, which has {', '.join(known) or 'none'}")
