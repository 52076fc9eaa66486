"""Measurements of an experiment: arrays in one file, from which tables, figures and claims are made."""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.lab.plan import Unit
from rankduel.lab.plots import Curve
from rankduel.lab.results import Results
from rankduel.lab.specs import PlannedExperiment
from rankduel.lab.store import write_whole
from rankduel.preferences import PreferenceMatrix, Utilities, oracle_bound
from rankduel.simulation import Problem, Run, delay_from, run_seed

__all__ = ["Measured", "Series"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SCHEMA = 1
_NONE = -1
_PER_RUN = ("winner", "champion", "converged_at", "left", "best_left", "computed")


@dataclass(frozen=True, eq=False)
class Series:
    """All runs of one bandit on one problem. -1 means None."""

    label: str
    spec: str  # with all parameters
    setting: Mapping[str, str]  # values of the swept options
    horizon: int
    checkpoints: Ints
    regret: Floats  # [run, checkpoint], cumulative; NaN if unknown
    measures: Mapping[str, Floats]  # other sums, with the same shape
    winner: Ints  # [run]
    champion: Ints
    converged_at: Ints
    left: Ints
    best_left: Ints
    computed: Ints  # number of computed duels
    cpu_seconds: Floats

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.winner)

    def regret_at(self, duels: float) -> Floats:
        """The regret of every run after `duels` duels, interpolated linearly between checkpoints."""
        return np.array([np.interp(duels, self.checkpoints, curve) for curve in self.regret])

    def mean_of(self, measure: str) -> Floats:
        """The mean of a measure per duel, for every run."""
        return np.asarray(self.measures[measure][:, -1] / self.horizon)

    @property
    def seconds_per_duel(self) -> Floats:
        """CPU seconds per computed duel, for every run."""
        return np.asarray(self.cpu_seconds / np.maximum(1, self.computed))

    def seconds_to(self, duels: float) -> Floats:
        """CPU seconds of every run for `duels` duels. Runs that did not converge are extrapolated."""
        on = np.where(self.converged_at >= 0, 1.0, duels / self.horizon)
        return np.asarray(self.cpu_seconds * on)

    def curve(self, quantity: str = "regret") -> Curve:
        """Mean and standard error over the runs, of the cumulative regret or of the running mean of a measure."""
        values = self.regret if quantity == "regret" else self.measures[quantity] / self.checkpoints
        error = values.std(axis=0, ddof=1) / math.sqrt(self.runs) if self.runs > 1 else None
        return Curve(self.label, self.checkpoints, values.mean(axis=0), error)


@dataclass(frozen=True, eq=False)
class Measured:
    """The series of all bandits of an experiment, and the facts of their origin.

    `save` and `load` are exact. The file is an npz. For B bandits, R runs and C checkpoints it holds:

    - [B]: `labels`, `specs`
    - [C]: `checkpoints`
    - [B, R, C]: `regret`, and each measure under its name
    - [B, R]: `winner`, `champion`, `converged_at`, `left`, `best_left`, `computed`, `cpu_seconds`
    - [R]: `run_seeds`
    - `provenance`: the facts, as JSON
    """

    facts: Mapping[str, Any]
    series: Mapping[str, Series]

    @classmethod
    def of(cls, planned: PlannedExperiment, results: Results, provenance: Mapping[str, Any]) -> "Measured":
        """Collect the results of an experiment. `provenance` has the facts that the results do not contain."""
        problem, experiment = planned.source.problem, planned.experiment
        facts = {
            **results.provenance,
            "schema": _SCHEMA,
            "question": planned.question,
            "part": planned.part,
            "panel": planned.panel,
            "setting": dict(planned.setting),
            "written": planned.written,
            "world": dict(planned.world),
            "sources": experiment.units[0].content["sources"],
            "origin": planned.source.origin,
            "told": planned.source.description,
            "n_best": len(problem.copeland_winners),
            "smallest_difference": _smallest_difference(problem),
            "oracle": _oracle(problem),
            "run_seeds": [str(run_seed(experiment.seed, index)) for index in range(experiment.runs)],
            **provenance,
        }
        series = {}
        for place, label in enumerate(planned.labels):
            runs = results.of(place)
            per_run = {
                name: np.array([_NONE if (value := getattr(run, name)) is None else value for run in runs], np.int64)
                for name in _PER_RUN
            }
            series[label] = Series(
                label=label,
                spec=experiment.specs[place],
                setting=dict(planned.settings[place]),
                horizon=experiment.horizon,
                checkpoints=runs[0].checkpoints,
                regret=np.array([run.regret for run in runs]),
                measures={name: np.array([run.measures[name] for run in runs]) for name in runs[0].measures},
                cpu_seconds=np.array([run.cpu_seconds for run in runs]),
                **per_run,
            )
        return cls(facts, series)

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return int(self.facts["n_arms"])

    @property
    def horizon(self) -> int:
        """T, the number of duels per run."""
        return int(self.facts["horizon"])

    @property
    def panel(self) -> str:
        """The panel: parts of one panel share a figure and a table."""
        return str(self.facts["panel"])

    @property
    def knows_regret(self) -> bool:
        """Whether regret is known. It is unknown in a search world without preferences."""
        return not any(np.isnan(series.regret).any() for series in self.series.values())

    def lost(self, series: Series) -> int | None:
        """The number of runs that eliminated all best arms. None if the best arms are unknown."""
        return int((series.best_left == 0).sum()) if self.facts["n_best"] else None

    def repeat(self, label: str, index: int, problem: Problem) -> Run:
        """Compute a run again. With the same code, the result has the same bytes.

        `facts["written"]` is the problem as the spec names it, and `facts["world"]` has the options of its world.
        """
        if problem.fingerprint != self.facts["fingerprint"]:
            name = self.facts["problem"]
            raise ValueError(f"{problem!r} is not the problem of this run: expected {name} with the same numbers")
        if label not in self.series or not 0 <= index < self.series[label].runs:
            runs = ", ".join(f"{series.runs} of {series.label}" for series in self.series.values())
            raise ValueError(f"no run {index} of {label!r}; stored runs: {runs}")
        series = self.series[label]
        checkpoints = tuple(series.checkpoints.tolist())
        kind, seed, delay = self.facts["regret"], self.facts["seed"], self.facts["delay"]
        law = None if delay is None else delay_from(delay)
        return Unit(problem, series.spec, series.horizon, checkpoints, kind, seed, index, law).play()

    def save(self, path: Path) -> None:
        """Write all arrays and facts to a file."""
        each = list(self.series.values())
        arrays: dict[str, Any] = {
            "labels": np.array([series.label for series in each]),
            "specs": np.array([series.spec for series in each]),
            "run_seeds": np.array(self.facts["run_seeds"]),
            "checkpoints": each[0].checkpoints,
            "regret": np.array([series.regret for series in each]),
            "cpu_seconds": np.array([series.cpu_seconds for series in each]),
        }
        arrays |= {name: np.array([getattr(series, name) for series in each]) for name in _PER_RUN}
        measures = list(each[0].measures)
        arrays |= {name: np.array([series.measures[name] for series in each]) for name in measures}
        facts = {**self.facts, "measures": measures, "settings": [dict(series.setting) for series in each]}
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, provenance=np.array(json.dumps(facts)), **arrays)
        write_whole(path, file.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Measured":
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        facts = json.loads(str(arrays["provenance"]))
        measures, settings = facts.pop("measures"), facts.pop("settings")
        series = {
            label: Series(
                label=label,
                spec=str(arrays["specs"][place]),
                setting=settings[place],
                horizon=facts["horizon"],
                checkpoints=arrays["checkpoints"],
                regret=arrays["regret"][place],
                measures={name: arrays[name][place] for name in measures},
                cpu_seconds=arrays["cpu_seconds"][place],
                **{name: arrays[name][place] for name in _PER_RUN},
            )
            for place, label in enumerate(arrays["labels"].tolist())
        }
        return cls(facts, series)


def _smallest_difference(problem: object) -> float | None:
    """Delta_min of Theorem 1: the smallest gap over all pairs that differ. None for problems without a matrix."""
    if not isinstance(problem, PreferenceMatrix):
        return None
    leads = problem.probabilities - 0.5
    return float(leads[leads > 0].min()) if (leads > 0).any() else None


def _oracle(problem: object) -> float | None:
    """The oracle's bound for log(1 / delta) = 1. None if the Condorcet winner does not exist or is unknown."""
    if not isinstance(problem, PreferenceMatrix | Utilities) or problem.condorcet_winner is None:
        return None
    return oracle_bound(problem, math.exp(-1))
