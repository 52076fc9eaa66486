"""Experiments, from a spec file to a report. Each step is a module:

1. `specs`, `sources`: a TOML spec names problems, bandits, sweeps, horizons and runs; `sources` finds the problems.
2. `plan`: an `Experiment` is a list of `Unit`s. A unit is one run of one bandit. Its key hashes all inputs of the run.
3. `engine`, `executors`, `dask_engine`: compute the units that are missing in the store, in threads, in processes or
   on a cluster. `progress` estimates the time left.
4. `store`: one file per finished run, so that an interrupted plan can continue.
5. `results`, `measurements`, `study`: the runs of an experiment as numbers and arrays, and all experiments of a spec.
6. `judging`, `claims`: compare the measurements with the claims of the paper.
7. `report`, `tables`, `certified_tables`, `plots`: HTML report, tables and figures.

Two commands use the same parts: `forecast` is `rankduel plan`, `estimation` is `rankduel matrix`.
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
