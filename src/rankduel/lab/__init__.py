"""The lab: an experiment is a plan of runs, each computed once and kept; tables and plots are made of them."""

from rankduel.lab.crews import OtherCode
from rankduel.lab.engine import Engine, EngineUnavailable, execute
from rankduel.lab.estimation import Estimate, Estimation, estimate_preferences
from rankduel.lab.plan import Experiment, Unit, normal_form, problem_from
from rankduel.lab.plots import Curve, Panel, PlotUnavailable, save_plot
from rankduel.lab.progress import Progress
from rankduel.lab.results import Results, Row
from rankduel.lab.showcase import Scene, Showcase, play_showcase
from rankduel.lab.store import Store

__all__ = [
    "Curve",
    "Engine",
    "EngineUnavailable",
    "Estimate",
    "Estimation",
    "Experiment",
    "OtherCode",
    "Panel",
    "PlotUnavailable",
    "Progress",
    "Results",
    "Row",
    "Scene",
    "Showcase",
    "Store",
    "Unit",
    "estimate_preferences",
    "execute",
    "normal_form",
    "play_showcase",
    "problem_from",
    "save_plot",
]
