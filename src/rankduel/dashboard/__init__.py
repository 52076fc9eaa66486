"""The dashboard: its static files, and its numbers and texts. `service/routes/dashboard.py` serves them."""

from rankduel.dashboard.assets import CONTENT_SECURITY_POLICY, FILES, File
from rankduel.dashboard.duel_explanation import DuelContext, duel_context, explain_duel, selection_rule
from rankduel.dashboard.evidence import enough_at_elimination
from rankduel.dashboard.forecast import Forecast, can_forecast, forecast, forecast_after
from rankduel.dashboard.health_status import HealthStatus, fair_sides, health_status
from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.dashboard.preference_grid import PreferenceGrid, preference_grid
from rankduel.dashboard.progress import progress
from rankduel.dashboard.report import Report, report
from rankduel.dashboard.report_markdown import markdown
from rankduel.dashboard.summary import summary_sentence
from rankduel.dashboard.user_effect import UserEffect, user_effect

__all__ = [
    "FILES",
    "CONTENT_SECURITY_POLICY",
    "File",
    "Forecast",
    "PreferenceGrid",
    "DuelContext",
    "HealthStatus",
    "LeaderboardRow",
    "Report",
    "UserEffect",
    "enough_at_elimination",
    "fair_sides",
    "can_forecast",
    "forecast",
    "forecast_after",
    "preference_grid",
    "progress",
    "duel_context",
    "health_status",
    "leaderboard",
    "markdown",
    "report",
    "selection_rule",
    "summary_sentence",
    "explain_duel",
    "user_effect",
]
