"""Run specs: plan all runs together, and return a `Study` with the results of each spec."""

import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import rankduel
from rankduel.lab.engine import execute
from rankduel.lab.measurements import Measured
from rankduel.lab.plan import Unit
from rankduel.lab.progress import Progress
from rankduel.lab.results import Results
from rankduel.lab.sources import Sources, data_folder
from rankduel.lab.specs import PlannedExperiment, Spec, load_spec
from rankduel.lab.store import Store
from rankduel.simulation import Run

if TYPE_CHECKING:
    import pandas

__all__ = ["Study", "plan_all", "run", "run_all"]

Watch = Callable[[Progress], object]


class Execute(Protocol):
    """A function that computes units: `execute`, or `execute` with another engine."""

    def __call__(
        self, units: Sequence[Unit], store: Store, *, jobs: int = 1, watch: Watch | None = None
    ) -> list[Run]: ...


@dataclass(frozen=True, eq=False)
class Study:
    """A spec at a scale, with its `results` and `measured`, both by name of the part."""

    spec: Spec
    scale: str
    experiments: Sequence[PlannedExperiment]
    results: Mapping[str, Results]
    measured: Mapping[str, Measured]

    def records(self) -> list[dict[str, object]]:
        """One row per bandit, run and checkpoint."""
        rows: list[dict[str, object]] = []
        for name, measured in self.measured.items():
            for series in measured.series.values():
                for index in range(series.runs):
                    start: dict[str, object] = {"part": name, "problem": measured.facts["problem"]}
                    start |= {
                        "bandit": series.label,
                        "spec": series.spec,
                        **series.setting,
                        **measured.facts["setting"],
                    }
                    for place, duels in enumerate(series.checkpoints.tolist()):
                        values = {name: float(table[index, place]) for name, table in series.measures.items()}
                        regret = float(series.regret[index, place])
                        rows.append({**start, "run": index, "duels": duels, "regret": regret, **values})
        return rows

    def frame(self) -> "pandas.DataFrame":
        """The records as a data frame. Needs pandas."""
        try:
            import pandas  # noqa: PLC0415 - optional dependency
        except ImportError as error:
            raise RuntimeError("a data frame needs pandas: pip install 'rankduel[frame]'") from error
        return pandas.DataFrame(self.records())


def plan_all(
    specs: Sequence[Spec], *, scale: str | None = None, data: Path | None = None, seed: int = 0
) -> list[tuple[Spec, list[PlannedExperiment]]]:
    """Plan and check the experiments of all specs, without computing anything."""
    sources = Sources(data_folder(data))
    return [(spec, spec.experiments(scale, sources, seed)) for spec in specs]


def run(
    spec: Spec | str | PathLike[str],
    *,
    scale: str | None = None,
    jobs: int = 1,
    out: str | PathLike[str] = "results",
    data: str | PathLike[str] | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    compute: Execute = execute,
) -> Study:
    """Run a spec, or a spec file: compute the missing runs and store them in `out`.

    `scale` is a scale of the spec. The default is its own `horizon` and `runs`. `data` is the folder with the matrices
    of the paper.

    >>> import tempfile
    >>> from rankduel.lab.specs import PAPER
    >>> study = run(PAPER / "rq4.toml", scale="smoke", out=tempfile.mkdtemp())
    >>> study.measured["cycle2"].series["MergeDTS"].regret.shape[0]
    2
    """
    made = spec if isinstance(spec, Spec) else load_spec(spec)
    folder = None if data is None else Path(data)
    (study,) = run_all(
        plan_all([made], scale=scale, data=folder, seed=seed),
        scale=scale,
        jobs=jobs,
        out=Path(out),
        watch=watch,
        compute=compute,
    )
    return study


def run_all(
    planned: Sequence[tuple[Spec, Sequence[PlannedExperiment]]],
    *,
    scale: str | None,
    jobs: int,
    out: Path,
    watch: Watch | None = None,
    compute: Execute = execute,
) -> list[Study]:
    """Run several specs as one plan. A run that two specs share is computed once."""
    store = Store(out)
    store.prepare()
    units = [unit for _, experiments in planned for each in experiments for unit in each.experiment.units]
    units.sort(key=lambda unit: unit.index)  # one run of each kind first, to estimate the time left
    began = time.perf_counter()
    runs = {unit.key: run for unit, run in zip(units, compute(units, store, jobs=jobs, watch=watch), strict=True)}
    provenance = _provenance() | {"seconds": round(time.perf_counter() - began, 1), "jobs": jobs}
    studies = []
    for spec, experiments in planned:
        results = {
            each.name: Results(each.experiment, [runs[unit.key] for unit in each.experiment.units])
            for each in experiments
        }
        chosen = spec.scale(scale)
        measured = {
            each.name: Measured.of(each, results[each.name], provenance | {"scale": chosen, "spec": spec.name})
            for each in experiments
        }
        studies.append(Study(spec, chosen, experiments, results, measured))
    return studies


def _provenance() -> dict[str, Any]:
    """The commit and the machine that produced the numbers."""
    return {
        "commit": _commit(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
    }


def _commit() -> str | None:
    """The Git commit of the sources, with a + if they have changes. None outside a checkout."""
    folder = Path(rankduel.__file__).parent
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
        known = subprocess.run(
            ["git", "ls-files", "--error-unmatch", "__init__.py"],
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() if known.returncode == 0 else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()
