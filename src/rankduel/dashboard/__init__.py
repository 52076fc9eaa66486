"""The dashboard: its pages, as files, and what they say, in numbers and words. The service serves them."""

from rankduel.dashboard.files import FILES, POLICY, File
from rankduel.dashboard.forecast import Forecast, forecast
from rankduel.dashboard.grid import Grid, grid
from rankduel.dashboard.lights import Light, light
from rankduel.dashboard.lines import Line, lines
from rankduel.dashboard.ratings import Harm, harm, ratings
from rankduel.dashboard.report import Report, markdown, report
from rankduel.dashboard.words import sentence, why_they_met

__all__ = [
    "FILES",
    "POLICY",
    "File",
    "Forecast",
    "Grid",
    "Harm",
    "Light",
    "Line",
    "Report",
    "forecast",
    "grid",
    "harm",
    "light",
    "lines",
    "markdown",
    "ratings",
    "report",
    "sentence",
    "why_they_met",
]
