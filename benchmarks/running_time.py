"""The paper's Table 2: CPU days for 1e8 duels, here and there."""

import tempfile
from dataclasses import replace

from benchmarks.problem import data
from rankduel.lab import paper_specs, run
from rankduel.lab.report import panel_tables
from rankduel.lab.specs import Scale, Spec


def report(*, quick: bool) -> None:
    """Play one run of each bandit, in a folder of its own so that nothing is found there, and print the table."""
    scale = "smoke" if quick else "paper"
    with tempfile.TemporaryDirectory() as folder:
        study = run(table_2(scale), scale=scale, out=folder, data=data())
    days = next(panel_tables(study))
    told = dict.fromkeys(f"{part.panel}: {part.facts['told']}" for part in study.measured.values())
    print(f"\n{days.title}\n{'; '.join(told)}\n\n{days.text}", end="")


def table_2(scale: str) -> Spec:
    """What the table needs of the paper's second question, a single run of each bandit."""
    spec = paper_specs()["rq2"]
    needed = [part for part in spec.parts if part.panel in spec.table["columns"]]
    parts = [replace(part, scales={scale: Scale(part.scales[scale].horizon, 1)}) for part in needed]
    return replace(spec, parts=tuple(parts), figures=())
