"""Live tournaments: durable ask and tell."""

from rankduel.live.defaults import DEFAULT
from rankduel.live.history import view_at
from rankduel.live.local_tournament import LocalTournament
from rankduel.live.page_views import PageView, PageViews
from rankduel.live.results import Counts, Departure, Health, LiveDecision, LiveDuel, Meeting, Receipt, Standing
from rankduel.live.rules.attribution import Attribution, Judgement
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.events import Event
from rankduel.live.rules.guardrails import Guardrail
from rankduel.live.rules.lifecycle import Rollout
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.ubi import read_events
from rankduel.live.storage.contract import Storage, storage_at
from rankduel.live.tournament import Tournament
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
    "LocalTournament",
    "Meeting",
    "PageView",
    "PageViews",
    "Receipt",
    "Rollout",
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
