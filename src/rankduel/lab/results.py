"""What came of an experiment: a row of figures and a regret curve for every bandit, and all numbers in one file."""

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

import rankduel
from rankduel.lab.plan import Experiment
from rankduel.lab.plots import Curve
from rankduel.lab.store import write_whole
from rankduel.simulation import Run, run_seed

__all__ = ["Results", "Row"]

_SCHEMA = 1
_NONE = -1  # for None, in arrays of int


@dataclass(frozen=True, slots=True)
class Row:
    """One bandit in a table. The best arm is the Condorcet winner, or any Copeland winner where there is none."""

    bandit: str  # as it was typed
    runs: int
    regret: float  # mean at the horizon
    regret_error: float | None  # standard error of that mean; None for a single run
    found: int  # runs that ended with the best arm as the only one left
    lost: int  # runs that ended with another arm as the only one left
    champion_right: int  # runs whose best guess at the horizon is the best arm, whether or not others are left
    converged_at: float | None  # median over the runs, one that did not converge counting as infinitely late
    cpu_us_per_duel: float  # until convergence


@dataclass(frozen=True, eq=False)
class Results:
    """An experiment and its runs, in the order of its units."""

    experiment: Experiment
    runs: Sequence[Run]

    def of(self, bandit: int) -> list[Run]:
        """The runs of one bandit, by its place in the experiment."""
        return list(self.runs[bandit :: len(self.experiment.bandits)])

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each bandit."""
        return [
            _row(bandit, self.of(place), self.experiment.problem.copeland_winners)
            for place, bandit in enumerate(self.experiment.bandits)
        ]

    @property
    def curves(self) -> list[Curve]:
        """One curve for each bandit: the mean over its runs, with the standard error."""
        curves = []
        for place, bandit in enumerate(self.experiment.bandits):
            regret = np.array([run.regret for run in self.of(place)])
            curves.append(Curve(bandit, self.runs[0].checkpoints, regret.mean(axis=0), _standard_error(regret)))
        return curves

    def save(self, path: Path) -> None:
        """Write all numbers as npz. Same experiment, same bytes: what was measured (CPU time) is not in it.

        With B bandits, R runs and C checkpoints it holds

        - `bandits` [B]: as typed, and `specs` [B]: with all parameters, as `rankduel.bandit_from` reads them;
        - `run_seeds` [R]: of each run, bandit and world alike, as text, for they are longer than 64 bits;
        - `checkpoints` [C]: numbers of duels, and `regret` [B, R, C]: cumulative, after that many duels;
        - `winner`, `champion`, `converged_at` [B, R]: -1 for a run that had more than one arm left at the horizon;
        - `provenance`: JSON with the schema, the version of rankduel, the problem's name and fingerprint, its number of
          arms and its Condorcet winner, the horizon, the kind of regret, the seed and the number of runs.
        """
        experiment = self.experiment
        file = io.BytesIO()
        np.savez_compressed(
            file,
            bandits=np.array(experiment.bandits),
            specs=np.array(experiment.specs),
            run_seeds=np.array([str(run_seed(experiment.seed, index)) for index in range(experiment.runs)]),
            checkpoints=self.runs[0].checkpoints,
            regret=self._table([run.regret for run in self.runs]),
            winner=self._table([_NONE if run.winner is None else run.winner for run in self.runs]),
            champion=self._table([run.champion for run in self.runs]),
            converged_at=self._table([_NONE if run.converged_at is None else run.converged_at for run in self.runs]),
            provenance=np.array(json.dumps(self.provenance)),
        )
        write_whole(path, file.getvalue())

    @property
    def provenance(self) -> dict[str, object]:
        """Where the numbers come from."""
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
            "seed": experiment.seed,
            "runs": experiment.runs,
        }

    def _table(self, values: Sequence[object]) -> npt.NDArray[np.generic]:
        """One value a unit, as [B, R, ...]."""
        array = np.array(values)
        return array.reshape(self.experiment.runs, len(self.experiment.bandits), *array.shape[1:]).swapaxes(0, 1)


def _row(bandit: str, runs: list[Run], best: tuple[int, ...]) -> Row:
    final = np.array([run.regret[-1] for run in runs])
    error = _standard_error(final)
    converged = median(math.inf if run.converged_at is None else run.converged_at for run in runs)
    return Row(
        bandit=bandit,
        runs=len(runs),
        regret=float(final.mean()),
        regret_error=None if error is None else float(error),
        found=sum(run.winner in best for run in runs),
        lost=sum(run.winner is not None and run.winner not in best for run in runs),
        champion_right=sum(run.champion in best for run in runs),
        converged_at=None if math.isinf(converged) else converged,
        cpu_us_per_duel=1e6 * sum(run.cpu_seconds for run in runs) / max(1, sum(run.computed for run in runs)),
    )


def _standard_error(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """Of the mean over the first axis; None for a single sample."""
    if len(samples) == 1:
        return None
    return np.asarray(samples.std(axis=0, ddof=1) / math.sqrt(len(samples)))
