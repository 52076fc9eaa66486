"""Live tournaments: ask and tell that survive a crash."""

from rankduel.live.answers import Counts, Departure, LiveDecision, LiveDuel, Meeting, Receipt, Standing
from rankduel.live.duels import DuelRow, Status
from rankduel.live.events import Event
from rankduel.live.storage import Storage, storage_at
from rankduel.live.tournament import DEFAULT, Tournament

__all__ = [
    "DEFAULT",
    "Counts",
    "Departure",
    "DuelRow",
    "Event",
    "LiveDecision",
    "LiveDuel",
    "Meeting",
    "Receipt",
    "Standing",
    "Status",
    "Storage",
    "Tournament",
    "storage_at",
]
