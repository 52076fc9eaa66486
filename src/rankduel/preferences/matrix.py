"""`PreferenceMatrix`: who beats whom, and how often. Validated once, read-only, and it knows its winners."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rankduel.preferences import files, winners
from rankduel.preferences.arrays import Floats, read_only

__all__ = ["PreferenceMatrix", "Summary"]

_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Summary:
    """What makes a problem easy or hard, at a glance."""

    n_arms: int
    condorcet_winner: int | None
    smallest_gap: float | None
    copeland_winners: tuple[int, ...]
    borda_winner: int
    three_cycles: int
    duplicates: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceMatrix:
    """The chance `probabilities[i, j]` that arm i beats arm j, and the arms' names if they have any.

    Small deviations from P + P.T = 1 are evened out, after which it holds exactly; larger ones are refused.

    >>> problem = PreferenceMatrix.from_array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    >>> problem
    <PreferenceMatrix: 3 arms, Condorcet winner 0>
    >>> problem.copeland_scores.tolist(), problem.gaps.round(3).tolist(), problem.three_cycles
    ([1.0, 0.5, 0.0], [0.0, 0.1, 0.4], 0)
    >>> PreferenceMatrix.from_array([[0.5, 0.6], [0.6, 0.5]])
    Traceback (most recent call last):
    ...
    ValueError: P[0, 1] + P[1, 0] = 1.2, expected 1
    """

    probabilities: Floats
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", read_only(_balanced(self.probabilities, _TOLERANCE)))
        if self.names is not None:
            object.__setattr__(self, "names", _checked_names(self.names, self.n_arms))

    @classmethod
    def from_array(
        cls, array: npt.ArrayLike, *, names: Iterable[str] | None = None, tolerance: float = _TOLERANCE
    ) -> "PreferenceMatrix":
        """Any array-like of numbers; `tolerance` is how far p_ij + p_ji may be from 1, and the diagonal from 1/2."""
        return cls(_balanced(array, tolerance), None if names is None else tuple(names))

    @classmethod
    def load(cls, path: str | PathLike[str], *, tolerance: float = _TOLERANCE) -> "PreferenceMatrix":
        """Read npz (array `P`, optional `names`), npy, csv (optional first row of names) or text, `.gz` or not.

        Text is numbers between blanks or commas, a row a line, with `#` comments.
        """
        array, names = files.load(Path(path))
        try:
            return cls.from_array(array, names=names, tolerance=tolerance)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def save(self, path: str | PathLike[str]) -> None:
        """Write what `load` reads, in the format of the suffix. Only npz and csv keep the names."""
        files.save(Path(path), self.probabilities, self.names)

    def subset(self, arms: Sequence[int]) -> "PreferenceMatrix":
        """The problem of these arms alone, in this order.

        >>> PreferenceMatrix.from_array([[0.5, 0.9], [0.1, 0.5]]).subset([1, 0]).condorcet_winner
        1
        """
        for arm in arms:
            if not 0 <= arm < self.n_arms:
                raise ValueError(f"there is no arm {arm} among {self.n_arms}")
        names = None if self.names is None else tuple(self.names[arm] for arm in arms)
        return PreferenceMatrix(self.probabilities[np.ix_(arms, arms)], names)

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.probabilities)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the content: same numbers and names, same fingerprint, on every machine."""
        digest = hashlib.sha256(repr(("PreferenceMatrix", self.n_arms, self.names)).encode())
        digest.update(self.probabilities.astype("<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def condorcet_winner(self) -> int | None:
        """The arm that beats every other one, or None."""
        return winners.condorcet_winner(self.probabilities)

    @cached_property
    def copeland_scores(self) -> Floats:
        """zeta_i: the share of the other arms that i beats."""
        return read_only(winners.copeland_scores(self.probabilities))

    @cached_property
    def copeland_winners(self) -> tuple[int, ...]:
        """The arms with the highest Copeland score."""
        return winners.copeland_winners(self.probabilities)

    @cached_property
    def borda_scores(self) -> Floats:
        """The row sums, diagonal included."""
        return read_only(winners.borda_scores(self.probabilities))

    @cached_property
    def borda_winner(self) -> int:
        """The arm with the highest Borda score, the lowest of them if several share it."""
        return int(self.borda_scores.argmax())

    @cached_property
    def von_neumann(self) -> Floats:
        """A mixed strategy (a weight for every arm, of sum 1) that no arm beats more than half the time."""
        return read_only(winners.von_neumann(self.probabilities))

    @cached_property
    def gaps(self) -> Floats:
        """Delta_1i = p_1i - 1/2 for every arm i, where 1 is the Condorcet winner. ValueError if there is none."""
        if self.condorcet_winner is None:
            raise ValueError("gaps need a Condorcet winner, and no arm beats all others")
        return read_only(self.probabilities[self.condorcet_winner] - 0.5)

    @cached_property
    def smallest_gap(self) -> float | None:
        """The Condorcet winner's lead over its closest rival; None without a winner or a rival."""
        if self.condorcet_winner is None or self.n_arms == 1:
            return None
        return float(np.delete(self.gaps, self.condorcet_winner).min())

    @cached_property
    def three_cycles(self) -> int:
        """How many triples of arms beat each other in a circle."""
        return winners.three_cycles(self.probabilities)

    def duplicates(self, tolerance: float = 0.005) -> tuple[tuple[int, ...], ...]:
        """Groups of arms whose rows agree within `tolerance`, which makes them a draw among themselves too."""
        return winners.duplicates(self.probabilities, tolerance)

    def summary(self) -> Summary:
        """The facts that a reader asks for first."""
        return Summary(
            n_arms=self.n_arms,
            condorcet_winner=self.condorcet_winner,
            smallest_gap=self.smallest_gap,
            copeland_winners=self.copeland_winners,
            borda_winner=self.borda_winner,
            three_cycles=self.three_cycles,
            duplicates=self.duplicates(),
        )

    def __repr__(self) -> str:
        winner = "no Condorcet winner" if self.condorcet_winner is None else f"Condorcet winner {self.condorcet_winner}"
        return f"<PreferenceMatrix: {self.n_arms} arms, {winner}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PreferenceMatrix) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[object, ...]:  # a pickled array forgets that it is read-only
        return PreferenceMatrix, (self.probabilities, self.names)


def _balanced(array: npt.ArrayLike, tolerance: float) -> Floats:
    """The array with P - 1/2 exactly antisymmetric, or the first entry that is wrong by more than `tolerance`."""
    if not 0 <= tolerance < 0.5:
        raise ValueError(f"tolerance must be in [0, 0.5), got {tolerance!r}")
    try:
        P = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a preference matrix is a square array of numbers: {error}") from error
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"a preference matrix is square, got shape {P.shape}")
    if not P.size:
        raise ValueError("a preference matrix has at least one arm, got none")
    for i, j in np.argwhere(~np.isfinite(P))[:1].tolist():
        raise ValueError(f"P[{i}, {j}] is {P[i, j]}, expected a probability between 0 and 1")
    for i, j in np.argwhere(np.abs(P - 0.5) > 0.5 + tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {j}] = {P[i, j].item()}, expected a probability between 0 and 1")
    for i in np.flatnonzero(np.abs(P.diagonal() - 0.5) > tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {i}] = {P[i, i].item()}, expected 0.5: an arm ties with itself")
    for i, j in np.argwhere(np.abs(P + P.T - 1.0) > tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {j}] + P[{j}, {i}] = {(P[i, j] + P[j, i]).item()}, expected 1")
    higher = np.minimum(0.5 + np.abs(P - P.T) / 2, 1.0)  # of the pair's two chances; 1 - higher is exact
    return np.asarray(np.where(P >= P.T, higher, 1.0 - higher))


def _checked_names(names: Iterable[str], n_arms: int) -> tuple[str, ...]:
    names = tuple(names)
    if len(names) != n_arms:
        raise ValueError(f"{len(names)} names for {n_arms} arms")
    for name, arms in Counter(names).items():
        if not isinstance(name, str):
            raise ValueError(f"names must be strings, got {name!r}")
        if arms > 1:
            raise ValueError(f"{arms} arms are named {name!r}")
    return names
