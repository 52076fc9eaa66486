"""Experiments, from a spec file to a report. Each step is a module:

1. `specs`, `sources`: a TOML spec names problems, bandits, sweeps, horizons and runs; `sources` finds the problems.
2. `plan`: an `Experiment` is a plan of `Unit`s, one run of one bandit each, known by a key of all that decides it.
3. `engine`, `executors`, `dask_engine`: compute the units that are not in the store, in threads, processes or on a
   cluster; `progress` estimates the time left.
4. `store`: one file for each finished run, so that an interrupted plan goes on where it was.
5. `results`, `measurements`, `study`: the runs of an experiment as figures and arrays, and those of a whole spec.
6. `judging`, `claims`: compare the measurements with the sentences of the paper.
7. `report`, `tables`, `certified_tables`, `plots`: what people read.

Two programs of their own use the same parts: `forecast` (`rankduel plan`) and `estimation` (`rankduel matrix`).
"""

from rankduel.lab.claims import CLAIMS, judge
from rankduel.lab.engine import Engine, EngineUnavailable, execute
from rankduel.lab.estimation import Estimate, Estimation, estimate_preferences
from rankduel.lab.executors import CodeMismatch
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
    "CodeMismatch",
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
