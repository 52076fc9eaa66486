"""Tournaments on live traffic: durable ask and tell, the journal, and where a tournament stands."""

from rankduel.live.answers import Counts, LiveDecision, LiveDuel, Receipt, Standing, Status
from rankduel.live.events import DuelRow, Event
from rankduel.live.storage import Entry, Kept, Storage, storage_at
from rankduel.live.tournament import Tournament

__all__ = [
    "Counts",
    "DuelRow",
    "Entry",
    "Event",
    "Kept",
    "LiveDecision",
    "LiveDuel",
    "Receipt",
    "Standing",
    "Status",
    "Storage",
    "Tournament",
    "storage_at",
]
