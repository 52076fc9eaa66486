"""Table 2 of the MergeDTS paper: CPU days for 1e8 duels, here and in the paper."""

import tempfile
from dataclasses import replace

from benchmarks.problem import data
from rankduel.lab import paper_specs, run
from rankduel.lab.report import panel_tables
from rankduel.lab.specs import Scale, Spec


def report(*, quick: bool) -> None:
    """Play one run of each bandit in an empty folder, so that no stored run is used, and print the table."""
    scale = "smoke" if quick else "paper"
    with tempfile.TemporaryDirectory() as folder:
        study = run(table_2(scale), scale=scale, out=folder, data=data())
    days = next(panel_tables(study))
    told = dict.fromkeys(f"{part.panel}: {part.facts['told']}" for part in study.measured.values())
    print(f"\n{days.title}\n{'; '.join(told)}\n\n{days.text}", end="")


def table_2(scale: str) -> Spec:
    """Select the parts of research question 2 for the table, with a single run of each bandit."""
    spec = paper_specs()["rq2"]
    needed = [part for part in spec.parts if part.panel in spec.table["columns"]]
    parts = [replace(part, scales={scale: Scale(part.scales[scale].horizon, 1)}) for part in needed]
    return replace(spec, parts=tuple(parts), figures=())
