"""Regret of a duel: the gap of each arm to the best arm, and how the gaps of the two arms are combined."""

from dataclasses import dataclass
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from rankduel.preferences.arrays import Floats, read_only
from rankduel.preferences.matrix import PreferenceMatrix
from rankduel.preferences.utilities import Utilities

__all__ = ["Combine", "Kind", "Problem", "Regret", "regret"]

Problem = PreferenceMatrix | Utilities
Kind = Literal["average", "weak", "strong", "copeland"]
Combine = Literal["mean", "min", "max"]
Arms = npt.NDArray[np.integer]

_COMBINE: dict[Kind, Combine] = {"average": "mean", "weak": "min", "strong": "max", "copeland": "mean"}


@dataclass(frozen=True, eq=False)
class Regret:
    """One gap per arm, zero for the best arm, and the rule that combines the two gaps of a duel.

    >>> cost = Regret(np.array([0.0, 0.1, 0.4]), "max")
    >>> cost.of(1, 2), cost.of(np.array([0, 1]), np.array([0, 0])).tolist()
    (0.4, [0.0, 0.1])
    """

    gaps: Floats
    combine: Combine = "mean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gaps", read_only(self.gaps))
        if self.gaps.ndim != 1 or not np.isfinite(self.gaps).all():
            raise ValueError("gaps must be a one-dimensional array of finite numbers, one per arm")
        if self.combine not in get_args(Combine):
            raise ValueError(f"combine must be one of {', '.join(get_args(Combine))}, got {self.combine!r}")

    @overload
    def of(self, first: int, second: int) -> float: ...
    @overload
    def of(self, first: Arms, second: Arms) -> Floats: ...
    def of(self, first: int | Arms, second: int | Arms) -> float | Floats:
        """Return the regret of a duel of these two arms, or of many duels if you pass two arrays."""
        a, b = self.gaps[first], self.gaps[second]
        if self.combine == "mean":
            combined = np.asarray((a + b) / 2)
        else:
            combined = np.asarray(np.minimum(a, b) if self.combine == "min" else np.maximum(a, b))
        return combined if combined.ndim else float(combined)

    def __reduce__(self) -> tuple[object, ...]:  # pickling does not keep arrays read-only
        return Regret, (self.gaps, self.combine)


def regret(problem: Problem, kind: Kind = "average") -> Regret:
    """Return the regret of the duels of a problem. Delta_i is the gap of arm i, and zeta_i its Copeland score.

    - `average`: (Delta_i + Delta_j) / 2, as in the paper
    - `weak`: the smaller of the two gaps
    - `strong`: the larger of the two gaps
    - `copeland`: zeta* - (zeta_i + zeta_j) / 2, where zeta* is the highest score. It needs no Condorcet winner.

    >>> problem = Utilities(np.log([4.0, 1.0, 2.0]))
    >>> [round(regret(problem, kind).of(1, 2), 4) for kind in ("average", "weak", "strong", "copeland")]
    [0.2333, 0.1667, 0.3, 0.75]
    """
    if kind not in _COMBINE:
        raise ValueError(f"kind must be one of {', '.join(_COMBINE)}, got {kind!r}")
    if kind == "copeland":
        return Regret(problem.copeland_scores.max() - problem.copeland_scores, _COMBINE[kind])
    if problem.condorcet_winner is None:
        raise ValueError(f"{kind} regret needs a Condorcet winner, but {problem!r} has none; use kind='copeland'")
    return Regret(problem.gaps, _COMBINE[kind])
