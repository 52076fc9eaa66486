"""`Utilities`: a Bradley-Terry problem of up to a million arms, too many for a matrix in memory."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankduel.preferences.arrays import Floats, read_only
from rankduel.preferences.matrix import PreferenceMatrix

__all__ = ["Utilities"]

_MAX_MATRIX_ARMS = 5_000  # their matrix takes 200 MB


@dataclass(frozen=True, eq=False, repr=False)
class Utilities:
    """The Bradley-Terry model: arm i beats arm j with probability 1 / (1 + exp(u_j - u_i)).

    >>> problem = Utilities(np.array([0.0, 2.0, 1.0]))
    >>> problem
    <Utilities: 3 arms, Condorcet winner 1>
    >>> round(problem.probability(1, 2), 4), problem.copeland_scores.tolist()
    (0.7311, [0.0, 1.0, 0.5])
    """

    utilities: Floats

    def __post_init__(self) -> None:
        utilities = read_only(self.utilities)
        if utilities.ndim != 1 or not utilities.size:
            raise ValueError(f"utilities must be one number per arm, got shape {utilities.shape}")
        for arm in np.flatnonzero(~np.isfinite(utilities))[:1].tolist():
            raise ValueError(f"the utility of arm {arm} is {utilities[arm]}, expected a finite number")
        object.__setattr__(self, "utilities", utilities)

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.utilities)

    def probability(self, i: int, j: int) -> float:
        """The probability that arm i beats arm j."""
        return 0.5 + 0.5 * float(np.tanh((self.utilities[i] - self.utilities[j]) / 2))

    def matrix(self) -> PreferenceMatrix:
        """Return the preference matrix, for up to 5,000 arms."""
        if self.n_arms > _MAX_MATRIX_ARMS:
            raise ValueError(f"a matrix of {self.n_arms:,} arms is too large, expected at most {_MAX_MATRIX_ARMS:,}")
        lead = self.utilities[:, None] - self.utilities
        return PreferenceMatrix(0.5 + 0.5 * np.tanh(lead / 2))

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the utilities."""
        digest = hashlib.sha256(repr(("Utilities", self.n_arms)).encode())
        digest.update(self.utilities.astype("<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def copeland_winners(self) -> tuple[int, ...]:
        """The arms with the highest utility."""
        return tuple(np.flatnonzero(self.utilities == self.utilities.max()).tolist())

    @property
    def condorcet_winner(self) -> int | None:
        """The arm with the highest utility. None if several share it."""
        return self.copeland_winners[0] if len(self.copeland_winners) == 1 else None

    @cached_property
    def copeland_scores(self) -> Floats:
        """Copeland scores zeta_i: the share of the other arms that i beats. Arms with equal utilities tie."""
        beaten = np.searchsorted(np.sort(self.utilities), self.utilities, side="left")
        return read_only(beaten / max(self.n_arms - 1, 1))

    @cached_property
    def gaps(self) -> Floats:
        """Delta_1i = p_1i - 1/2 for every arm i, where 1 is the Condorcet winner. ValueError if there is none."""
        if self.condorcet_winner is None:
            raise ValueError(
                f"gaps need a Condorcet winner, but {len(self.copeland_winners)} arms share the highest utility"
            )
        return read_only(0.5 * np.tanh((self.utilities[self.condorcet_winner] - self.utilities) / 2))

    @cached_property
    def smallest_gap(self) -> float | None:
        """The gap of the Condorcet winner to its closest rival. None without a winner or a rival."""
        if self.condorcet_winner is None or self.n_arms == 1:
            return None
        return float(np.delete(self.gaps, self.condorcet_winner).min())

    def __repr__(self) -> str:
        winner = "no Condorcet winner" if self.condorcet_winner is None else f"Condorcet winner {self.condorcet_winner}"
        return f"<Utilities: {self.n_arms} arms, {winner}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Utilities) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[object, ...]:  # pickling does not keep arrays read-only
        return Utilities, (self.utilities,)
