"""`PreferenceMatrix`: the probabilities that one arm beats another, validated and read-only, with its winners."""

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
    """Summary of a problem: its winners, smallest gap, cycles and duplicates."""

    n_arms: int
    condorcet_winner: int | None
    smallest_gap: float | None
    copeland_winners: tuple[int, ...]
    borda_winner: int
    three_cycles: int
    duplicates: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceMatrix:
    """A preference matrix: arm i beats arm j with probability `probabilities[i, j]`. Arms may have names.

    P + P.T = 1 holds exactly. Small deviations in the input are corrected, and larger ones raise a ValueError.

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
        """Make a matrix from an array-like. `tolerance` limits how far p_ij + p_ji is from 1, and p_ii from 1/2."""
        return cls(_balanced(array, tolerance), None if names is None else tuple(names))

    @classmethod
    def load(cls, path: str | PathLike[str], *, tolerance: float = _TOLERANCE) -> "PreferenceMatrix":
        """Read an npz (array `P`, optional `names`), npy, csv (optional first row of names) or text file, also gzipped.

        A text file has one row per line, with numbers separated by blanks or commas, and comments after `#`.
        """
        array, names = files.load(Path(path))
        try:
            return cls.from_array(array, names=names, tolerance=tolerance)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file that `load` reads, in the format of the suffix. Only npz and csv files keep the names."""
        files.save(Path(path), self.probabilities, self.names)

    def subset(self, arms: Sequence[int]) -> "PreferenceMatrix":
        """Return the problem restricted to these arms, in this order.

        >>> PreferenceMatrix.from_array([[0.5, 0.9], [0.1, 0.5]]).subset([1, 0]).condorcet_winner
        1
        """
        for arm in arms:
            if not 0 <= arm < self.n_arms:
                raise ValueError(f"arms must be from 0 to {self.n_arms - 1}, got {arm}")
        names = None if self.names is None else tuple(self.names[arm] for arm in arms)
        return PreferenceMatrix(self.probabilities[np.ix_(arms, arms)], names)

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.probabilities)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of numbers and names, the same on every machine."""
        digest = hashlib.sha256(repr(("PreferenceMatrix", self.n_arms, self.names)).encode())
        digest.update(self.probabilities.astype("<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def condorcet_winner(self) -> int | None:
        """The arm that beats all others, or None."""
        return winners.condorcet_winner(self.probabilities)

    @cached_property
    def copeland_scores(self) -> Floats:
        """Copeland scores zeta_i: the share of the other arms that i beats."""
        return read_only(winners.copeland_scores(self.probabilities))

    @cached_property
    def copeland_winners(self) -> tuple[int, ...]:
        """The arms with the highest Copeland score."""
        return winners.copeland_winners(self.probabilities)

    @cached_property
    def borda_scores(self) -> Floats:
        """Borda scores: the row sums, including the diagonal."""
        return read_only(winners.borda_scores(self.probabilities))

    @cached_property
    def borda_winner(self) -> int:
        """The arm with the highest Borda score. If several share it, the lowest of them."""
        return int(self.borda_scores.argmax())

    @cached_property
    def von_neumann(self) -> Floats:
        """The von Neumann winner: weights of the arms, with sum 1, such that no arm beats this random mix."""
        return read_only(winners.von_neumann(self.probabilities))

    @cached_property
    def gaps(self) -> Floats:
        """Delta_1i = p_1i - 1/2 for every arm i, where 1 is the Condorcet winner. ValueError if there is none."""
        if self.condorcet_winner is None:
            raise ValueError("gaps need a Condorcet winner, but no arm beats all others")
        return read_only(self.probabilities[self.condorcet_winner] - 0.5)

    @cached_property
    def smallest_gap(self) -> float | None:
        """The gap of the Condorcet winner to its closest rival. None without a winner or a rival."""
        if self.condorcet_winner is None or self.n_arms == 1:
            return None
        return float(np.delete(self.gaps, self.condorcet_winner).min())

    @cached_property
    def three_cycles(self) -> int:
        """The number of 3-cycles: triples of arms that beat each other in a cycle."""
        return winners.three_cycles(self.probabilities)

    def duplicates(self, tolerance: float = 0.005) -> tuple[tuple[int, ...], ...]:
        """Groups of arms whose rows agree within `tolerance`. They also tie with each other, within `tolerance`."""
        return winners.duplicates(self.probabilities, tolerance)

    def summary(self) -> Summary:
        """Return a summary of the problem."""
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

    def __reduce__(self) -> tuple[object, ...]:  # pickling does not keep arrays read-only
        return PreferenceMatrix, (self.probabilities, self.names)


def _balanced(array: npt.ArrayLike, tolerance: float) -> Floats:
    """Return the array with P + P.T = 1 exactly. ValueError if an entry deviates by more than `tolerance`."""
    if not 0 <= tolerance < 0.5:
        raise ValueError(f"tolerance must be at least 0 and below 0.5, got {tolerance!r}")
    try:
        P = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a preference matrix must be a square array of numbers: {error}") from error
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"a preference matrix must be square, got shape {P.shape}")
    if not P.size:
        raise ValueError("a preference matrix must have at least one arm, got none")
    for i, j in np.argwhere(~np.isfinite(P))[:1].tolist():
        raise ValueError(f"P[{i}, {j}] is {P[i, j]}, expected a probability between 0 and 1")
    for i, j in np.argwhere(np.abs(P - 0.5) > 0.5 + tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {j}] = {P[i, j].item()}, expected a probability between 0 and 1")
    for i in np.flatnonzero(np.abs(P.diagonal() - 0.5) > tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {i}] = {P[i, i].item()}, expected 0.5 on the diagonal")
    for i, j in np.argwhere(np.abs(P + P.T - 1.0) > tolerance)[:1].tolist():
        raise ValueError(f"P[{i}, {j}] + P[{j}, {i}] = {(P[i, j] + P[j, i]).item()}, expected 1")
    higher = np.minimum(0.5 + np.abs(P - P.T) / 2, 1.0)  # larger probability of the pair; 1 - higher is exact
    return np.asarray(np.where(P >= P.T, higher, 1.0 - higher))


def _checked_names(names: Iterable[str], n_arms: int) -> tuple[str, ...]:
    names = tuple(names)
    if len(names) != n_arms:
        raise ValueError(f"{len(names)} names for {n_arms} arms, expected {n_arms}")
    for name, arms in Counter(names).items():
        if not isinstance(name, str):
            raise ValueError(f"names must be strings, got {name!r}")
        if arms > 1:
            raise ValueError(f"{arms} arms have the name {name!r}; names must be unique")
    return names
