"""Measurements of an experiment as arrays in one file: the input of tables, figures and claims."""

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
    """All runs of one bandit on one problem. -1 stands for None."""

    label: str
    spec: str  # with all parameters
    setting: Mapping[str, str]  # what was swept
    horizon: int
    checkpoints: Ints
    regret: Floats  # [run, checkpoint], cumulative; NaN where it is not known
    measures: Mapping[str, Floats]  # likewise
    winner: Ints  # [run]
    champion: Ints
    converged_at: Ints
    left: Ints
    best_left: Ints
    computed: Ints  # duels that took time
    cpu_seconds: Floats

    @property
    def runs(self) -> int:
        """Their number."""
        return len(self.winner)

    def regret_at(self, duels: float) -> Floats:
        """Of every run, after so many duels; between two checkpoints, on the line that joins them."""
        return np.array([np.interp(duels, self.checkpoints, curve) for curve in self.regret])

    def mean_of(self, measure: str) -> Floats:
        """Of every run, per duel."""
        return np.asarray(self.measures[measure][:, -1] / self.horizon)

    @property
    def seconds_per_duel(self) -> Floats:
        """CPU seconds of every run per duel that took time."""
        return np.asarray(self.cpu_seconds / np.maximum(1, self.computed))

    def seconds_to(self, duels: float) -> Floats:
        """CPU seconds of every run for so many duels: one that ended takes no more, any other goes on at its pace."""
        on = np.where(self.converged_at >= 0, 1.0, duels / self.horizon)
        return np.asarray(self.cpu_seconds * on)

    def curve(self, quantity: str = "regret") -> Curve:
        """The mean over the runs with its standard error: cumulative regret, or the mean of a measure so far."""
        values = self.regret if quantity == "regret" else self.measures[quantity] / self.checkpoints
        error = values.std(axis=0, ddof=1) / math.sqrt(self.runs) if self.runs > 1 else None
        return Curve(self.label, self.checkpoints, values.mean(axis=0), error)


@dataclass(frozen=True, eq=False)
class Measured:
    """An experiment's problem, its bandits' series, and where all of it comes from.

    `save` and `load` are exact. The file is an npz with, for B bandits, R runs and C checkpoints, `labels`, `specs`
    [B], `checkpoints` [C], `regret` and each measure [B, R, C], `winner`, `champion`, `converged_at`, `left`,
    `best_left`, `computed`, `cpu_seconds` [B, R], `run_seeds` [R], and `provenance`, JSON.
    """

    facts: Mapping[str, Any]
    series: Mapping[str, Series]

    @classmethod
    def of(cls, planned: PlannedExperiment, results: Results, provenance: Mapping[str, Any]) -> "Measured":
        """Of an experiment's results; `provenance` is what the results do not know themselves."""
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
        """K."""
        return int(self.facts["n_arms"])

    @property
    def horizon(self) -> int:
        """T."""
        return int(self.facts["horizon"])

    @property
    def panel(self) -> str:
        """Whose figure and table it belongs to."""
        return str(self.facts["panel"])

    @property
    def knows_regret(self) -> bool:
        """Not so in a search world whose preferences nobody knows."""
        return not any(np.isnan(series.regret).any() for series in self.series.values())

    def lost(self, series: Series) -> int | None:
        """In how many runs all of the best arms were eliminated; None where nobody knows the best."""
        return int((series.best_left == 0).sum()) if self.facts["n_best"] else None

    def repeat(self, label: str, index: int, problem: Problem) -> Run:
        """Compute a run of a bandit again: the same bytes, if the code is the same.

        Which problem it was, `facts` tell: as it was `written` in the spec, and the options of its `world`.
        """
        if problem.fingerprint != self.facts["fingerprint"]:
            name = self.facts["problem"]
            raise ValueError(f"{problem!r} is not what was played, {name}, but one with other numbers")
        if label not in self.series or not 0 <= index < self.series[label].runs:
            runs = ", ".join(f"{series.runs} of {series.label}" for series in self.series.values())
            raise ValueError(f"no run {index} of {label!r}: there are {runs}")
        series = self.series[label]
        checkpoints = tuple(series.checkpoints.tolist())
        kind, seed, delay = self.facts["regret"], self.facts["seed"], self.facts["delay"]
        law = None if delay is None else delay_from(delay)
        return Unit(problem, series.spec, series.horizon, checkpoints, kind, seed, index, law).play()

    def save(self, path: Path) -> None:
        """Write everything."""
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
        """Read what `save` wrote."""
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
    """The theorem's Delta_min, over all pairs that differ at all; of matrices only."""
    if not isinstance(problem, PreferenceMatrix):
        return None
    leads = problem.probabilities - 0.5
    return float(leads[leads > 0].min()) if (leads > 0).any() else None


def _oracle(problem: object) -> float | None:
    """The oracle's bound for log(1 / delta) = 1; None where there is no Condorcet winner, or nobody knows it."""
    if not isinstance(problem, PreferenceMatrix | Utilities) or problem.condorcet_winner is None:
        return None
    return oracle_bound(problem, math.exp(-1))
