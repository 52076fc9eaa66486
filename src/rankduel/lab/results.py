"""Results of an experiment: a table row and a regret curve per bandit, and all numbers in one file."""

import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

import rankduel
from rankduel.lab.plan import Experiment
from rankduel.lab.plots import Curve
from rankduel.lab.store import write_whole
from rankduel.simulation import Run, regret_of, run_seed

__all__ = ["Results", "Row"]

_SCHEMA = 1
_NONE = -1  # for None, in arrays of int


@dataclass(frozen=True, slots=True)
class Row:
    """One bandit in a table. The best arm is the Condorcet winner. Without one, each Copeland winner is a best arm.

    If the preferences are unknown, all fields about regret and best arms are None.
    """

    bandit: str  # as the user wrote it
    runs: int
    measures: dict[str, float]  # mean per duel of the other measures, with standard errors as NAME_error
    regret: float | None  # mean regret at the horizon
    regret_error: float | None  # standard error of the mean; None for a single run
    found: int | None  # runs with only a best arm left
    lost: int | None  # runs with only another arm left
    champion_right: int | None  # runs whose champion at the horizon is a best arm
    champions: dict[int, int]  # number of runs by champion, most frequent first
    converged_at: float | None  # median over the runs; a run that did not converge counts as infinite
    cpu_us_per_duel: float  # CPU microseconds per duel until convergence
    waited: float = 0.0  # share of pages until convergence without a duel, because too many were in flight


@dataclass(frozen=True, eq=False)
class Results:
    """An experiment with its runs, in the order of its units."""

    experiment: Experiment
    runs: Sequence[Run]

    def of(self, bandit: int) -> list[Run]:
        """The runs of one bandit, by its position in the experiment."""
        return list(self.runs[bandit :: len(self.experiment.bandits)])

    @cached_property
    def rows(self) -> list[Row]:
        """One row per bandit."""
        return [
            _row(bandit, self.of(place), self.experiment.problem.copeland_winners if self.knows_regret else None)
            for place, bandit in enumerate(self.experiment.bandits)
        ]

    @property
    def curves(self) -> list[Curve]:
        """One curve per bandit: mean regret over its runs, with the standard error."""
        curves = []
        for place, bandit in enumerate(self.experiment.bandits):
            regret = np.array([run.regret for run in self.of(place)])
            curves.append(Curve(bandit, self.runs[0].checkpoints, regret.mean(axis=0), _standard_error(regret)))
        return curves

    @property
    def knows_regret(self) -> bool:
        """Whether regret is known. It is unknown in a search world without preferences."""
        return regret_of(self.experiment.problem, self.experiment.kind) is not None

    @property
    def measures(self) -> list[str]:
        """Names of the measures that the world adds up besides regret, such as clicks@10."""
        return list(self.runs[0].measures)

    def averages(self, measure: str) -> list[Curve]:
        """One curve per bandit: the running mean of a measure over all duels so far."""
        curves = []
        for place, bandit in enumerate(self.experiment.bandits):
            runs = self.of(place)
            means = np.array([run.measures[measure] / run.checkpoints for run in runs])
            curves.append(Curve(bandit, runs[0].checkpoints, means.mean(axis=0), _standard_error(means)))
        return curves

    def save(self, path: Path) -> None:
        """Write all numbers to an npz file. The same experiment gives the same bytes, because CPU times are left out.

        For B bandits, R runs and C checkpoints it holds:

        - `bandits` [B], as the user wrote them, and `specs` [B], with all parameters, for `rankduel.bandit_from`
        - `run_seeds` [R]: the seed of each run, for bandit and world, as text because it exceeds 64 bits
        - `checkpoints` [C]: numbers of duels
        - `regret` [B, R, C]: cumulative, at each checkpoint; other measures have the same form, under names such as
          `clicks@10`
        - `winner`, `champion`, `converged_at` [B, R]; -1 means that more than one arm was left at the horizon
        - `provenance`: JSON with the schema, the version of rankduel, the problem's name, fingerprint, number of arms
          and Condorcet winner, the horizon, the kind of regret, the delay, the seed and the number of runs
        """
        experiment = self.experiment
        measures: dict[str, Any] = {
            name: self._table([run.measures[name] for run in self.runs]) for name in self.measures
        }
        file = io.BytesIO()
        np.savez_compressed(
            file,
            bandits=np.array(experiment.bandits),
            specs=np.array(experiment.specs),
            run_seeds=np.array([str(run_seed(experiment.seed, index)) for index in range(experiment.runs)]),
            checkpoints=self.runs[0].checkpoints,
            regret=self._table([run.regret for run in self.runs]),
            **measures,
            winner=self._table([_NONE if run.winner is None else run.winner for run in self.runs]),
            champion=self._table([run.champion for run in self.runs]),
            converged_at=self._table([_NONE if run.converged_at is None else run.converged_at for run in self.runs]),
            provenance=np.array(json.dumps(self.provenance)),
        )
        write_whole(path, file.getvalue())

    @property
    def provenance(self) -> dict[str, object]:
        """The origin of the numbers: version, problem, horizon, delay and seed."""
        experiment = self.experiment
        return {
            "schema": _SCHEMA,
            "rankduel": rankduel.__version__,
            "problem": experiment.name,
            "fingerprint": experiment.problem.fingerprint,
            "n_arms": experiment.problem.n_arms,
            "condorcet_winner": experiment.problem.condorcet_winner,
            "horizon": experiment.horizon,
            "regret": experiment.kind,
            "delay": None if experiment.delay is None else repr(experiment.delay),
            "seed": experiment.seed,
            "runs": experiment.runs,
        }

    def _table(self, values: Sequence[object]) -> npt.NDArray[np.generic]:
        """Arrange one value per unit as [B, R, ...]."""
        array = np.array(values)
        return array.reshape(self.experiment.runs, len(self.experiment.bandits), *array.shape[1:]).swapaxes(0, 1)


def _row(bandit: str, runs: list[Run], best: tuple[int, ...] | None) -> Row:
    regret, regret_error = _mean([run.regret[-1] for run in runs])
    converged = median(math.inf if run.converged_at is None else run.converged_at for run in runs)
    measures: dict[str, float] = {}
    for name in runs[0].measures:
        measures[name], error = _mean([run.measures[name][-1] / run.checkpoints[-1] for run in runs])
        if error is not None:
            measures[f"{name}_error"] = error
    return Row(
        bandit=bandit,
        runs=len(runs),
        measures=measures,
        regret=None if best is None else regret,
        regret_error=None if best is None else regret_error,
        found=None if best is None else sum(run.winner in best for run in runs),
        lost=None if best is None else sum(run.winner is not None and run.winner not in best for run in runs),
        champion_right=None if best is None else sum(run.champion in best for run in runs),
        champions=dict(Counter(run.champion for run in runs).most_common()),
        converged_at=None if math.isinf(converged) else converged,
        cpu_us_per_duel=1e6 * sum(run.cpu_seconds for run in runs) / max(1, sum(run.computed for run in runs)),
        waited=sum(run.waited for run in runs) / max(1, sum(run.converged_at or run.duels for run in runs)),
    )


def _mean(values: list[float]) -> tuple[float, float | None]:
    """The mean and its standard error."""
    error = _standard_error(np.array(values))
    return float(np.mean(values)), None if error is None else float(error)


def _standard_error(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """The standard error of the mean over the first axis. None for a single sample."""
    if len(samples) == 1:
        return None
    return np.asarray(samples.std(axis=0, ddof=1) / math.sqrt(len(samples)))
