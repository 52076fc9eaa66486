"""The lab: an experiment is a plan of runs, each computed once and kept; tables and plots are made of them."""

from rankduel.lab.claims import CLAIMS, judge
from rankduel.lab.engine import Engine, EngineUnavailable, execute
from rankduel.lab.estimation import Estimate, Estimation, estimate_preferences
from rankduel.lab.executors import OtherCode
from rankduel.lab.judging import Claim, Verdict
from rankduel.lab.measurements import Measured, Series
from rankduel.lab.plan import Experiment, Unit, normal_form, problem_from
from rankduel.lab.plots import Curve, Panel, PlotUnavailable, save_plot
from rankduel.lab.progress import Progress
from rankduel.lab.report import Report, claims_table, write_report
from rankduel.lab.results import Results, Row
from rankduel.lab.specs import Spec, certified_specs, load_spec, paper_specs
from rankduel.lab.store import Store
from rankduel.lab.study import Study, plan_all, run, run_all
from rankduel.lab.tables import Table

__all__ = [
    "CLAIMS",
    "Claim",
    "Curve",
    "Engine",
    "EngineUnavailable",
    "Estimate",
    "Estimation",
    "Experiment",
    "Measured",
    "OtherCode",
    "Panel",
    "PlotUnavailable",
    "Progress",
    "Report",
    "Results",
    "Row",
    "Series",
    "Spec",
    "Store",
    "Study",
    "Table",
    "Unit",
    "Verdict",
    "certified_specs",
    "claims_table",
    "estimate_preferences",
    "execute",
    "judge",
    "load_spec",
    "normal_form",
    "paper_specs",
    "plan_all",
    "problem_from",
    "run",
    "run_all",
    "save_plot",
    "write_report",
]
