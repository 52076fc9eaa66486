"""The dashboard: its pages, as files, and what they say, in numbers and words. The service serves them."""

from rankduel.dashboard.assets import FILES, POLICY, File
from rankduel.dashboard.duel_explanation import Known, known_of, rule_of, why_they_met
from rankduel.dashboard.forecast import Forecast, forecast
from rankduel.dashboard.health_status import Light, fair_sides, light
from rankduel.dashboard.leaderboard import Line, lines
from rankduel.dashboard.preference_grid import Grid, grid
from rankduel.dashboard.ratings import Harm, harm, ratings
from rankduel.dashboard.report import Report, markdown, report
from rankduel.dashboard.summary import sentence

__all__ = [
    "FILES",
    "POLICY",
    "File",
    "Forecast",
    "Grid",
    "Harm",
    "Known",
    "Light",
    "Line",
    "Report",
    "fair_sides",
    "forecast",
    "grid",
    "harm",
    "known_of",
    "light",
    "lines",
    "markdown",
    "ratings",
    "report",
    "rule_of",
    "sentence",
    "why_they_met",
]
