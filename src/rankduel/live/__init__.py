"""Live tournaments: ask and tell that survive a crash."""

from rankduel.live.answers import Counts, Departure, Health, LiveDecision, LiveDuel, Meeting, Receipt, Standing
from rankduel.live.attribution import Attribution, Judgement
from rankduel.live.duels import DuelRow, Status
from rankduel.live.events import Event
from rankduel.live.past import view_at
from rankduel.live.safety import Guardrail
from rankduel.live.settings import DEFAULT
from rankduel.live.signals import Shown, Signal
from rankduel.live.storage import Storage, storage_at
from rankduel.live.tournament import Clicks, Tournament
from rankduel.live.ubi import read_events
from rankduel.live.view import View

__all__ = [
    "DEFAULT",
    "Attribution",
    "Clicks",
    "Counts",
    "Departure",
    "DuelRow",
    "Event",
    "Guardrail",
    "Health",
    "Judgement",
    "LiveDecision",
    "LiveDuel",
    "Meeting",
    "Receipt",
    "Shown",
    "Signal",
    "Standing",
    "Status",
    "Storage",
    "Tournament",
    "View",
    "read_events",
    "storage_at",
    "view_at",
]
