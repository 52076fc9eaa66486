"""Tournaments on live traffic: durable ask and tell, the journal, and where a tournament stands."""

from rankduel.live.answers import Counts, LiveDecision, LiveDuel, Receipt, Standing, Status
from rankduel.live.attribution import Attribution, Judgement
from rankduel.live.events import DuelRow, Event
from rankduel.live.safety import Guardrail
from rankduel.live.signals import Shown, Signal
from rankduel.live.storage import Entry, Kept, Storage, storage_at
from rankduel.live.tournament import Tournament
from rankduel.live.ubi import read_events

__all__ = [
    "Attribution",
    "Counts",
    "DuelRow",
    "Entry",
    "Event",
    "Guardrail",
    "Judgement",
    "Kept",
    "LiveDecision",
    "LiveDuel",
    "Receipt",
    "Shown",
    "Signal",
    "Standing",
    "Status",
    "Storage",
    "Tournament",
    "read_events",
    "storage_at",
]
