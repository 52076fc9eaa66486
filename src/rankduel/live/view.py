"""`View`: a consistent copy of everything a tournament has learnt, for reports. Making one holds the lock briefly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from rankduel.bandits import Decision
from rankduel.live.ratings import Ratings, fit_ratings
from rankduel.live.runtime.state import State
from rankduel.live.settings import Settings

__all__ = ["View", "view_of"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_PAIRS_PER_CHUNK = 4_096  # converted in one call, during which no other thread runs


@dataclass(frozen=True, eq=False)
class View:
    """A copy of a tournament's state, which does not change. Rankers are indices into `names`."""

    number: int  # of the last event
    time: float  # of the last event
    resolved: int  # duels
    status: str
    settings: Settings
    bandit: str  # name of the class
    names: tuple[str, ...]
    champion: int
    alive: Integers
    decision: Decision
    evidence: Floats | None  # against each ranker, as a natural logarithm
    batches: tuple[tuple[int, ...], ...] | None  # None if the bandit has no batches
    paused: frozenset[int]
    retired: Mapping[int, int]  # each with the number of duels resolved when an operator retired it
    wins: dict[tuple[int, int], int] = field(repr=False)  # of the first over the second
    ties: dict[tuple[int, int], int] = field(repr=False)

    @cached_property
    def meetings(self) -> Integers:
        """All pairs that have met, sorted: rows of ranker i, ranker j >= i, wins of i, wins of j, and ties."""
        parts = []
        for (first, second, count), low, high in ((self._won, 2, 3), (self._tied, 4, 4)):
            rows = np.zeros((len(count), 5), np.int64)
            rows[:, 0], rows[:, 1] = np.minimum(first, second), np.maximum(first, second)
            rows[np.arange(len(rows)), np.where(first > second, high, low)] = count
            parts.append(rows)
        rows = np.concatenate(parts)
        keys, indices = np.unique(rows[:, 0] * len(self.names) + rows[:, 1], return_inverse=True)
        table = np.zeros((len(keys), 5), np.int64)
        table[:, 0], table[:, 1] = np.divmod(keys, len(self.names))
        for column in (2, 3, 4):
            table[:, column] = np.bincount(indices, rows[:, column], len(keys))
        return table

    @cached_property
    def records(self) -> Integers:
        """Wins, losses and ties of each ranker. A duel of a ranker with itself counts as a win and a loss."""
        n = len(self.names)
        winner, loser, won = self._won
        first, second, tied = self._tied
        other = first != second
        totals = [
            np.bincount(winner, won, n),
            np.bincount(loser, won, n),
            np.bincount(first, tied, n) + np.bincount(second[other], tied[other], n),
        ]
        return np.array(totals).T.astype(np.int64)

    @cached_property
    def _won(self) -> Integers:
        return _as_array(self.wins)

    @cached_property
    def _tied(self) -> Integers:
        return _as_array(self.ties)

    @cached_property
    def left(self) -> frozenset[int]:
        """The rankers that are left."""
        return frozenset(self.alive.tolist())

    @cached_property
    def ratings(self) -> Ratings:
        """Bradley-Terry ratings of the rankers. They take into account which opponents a ranker met."""
        return fit_ratings(self.meetings, len(self.names))

    @cached_property
    def order(self) -> list[int]:
        """The leaderboard: the champion, the others left, the eliminated, the retired; each group by rating."""
        group = np.full(len(self.names), 2)
        group[list(self.retired)] = 3
        group[self.alive] = 1
        if self.champion in self.left:
            group[self.champion] = 0
        order: list[int] = np.lexsort((-self.ratings.means, group)).tolist()
        return order

    def state_of(self, arm: int) -> str:
        """Return the state of a ranker: champion, left, paused, eliminated or retired."""
        if arm not in self.left:
            return "retired" if arm in self.retired else "eliminated"
        return "paused" if arm in self.paused else "champion" if arm == self.champion else "left"

    @property
    def enough(self) -> float | None:
        """The evidence (a natural logarithm) at which a ranker is eliminated; None without such a rule."""
        confidence = self.decision.confidence
        if self.evidence is None or confidence.delta is None:
            return None
        shares = 1 if confidence.tolerance is None else 2 * len(self.alive)  # of delta; see "Tied sets" in the docs
        return float(np.log(shares / confidence.delta))

    @property
    def ends(self) -> bool:
        """Whether the bandit eliminates rankers until one is left. Other bandits run without end."""
        return self.enough is not None or self.batches is not None


def _as_array(counts: dict[tuple[int, int], int]) -> Integers:
    """Return three rows: first and second of each pair, and its count. Works in chunks to let other threads run."""
    pairs, values = iter(counts), iter(counts.values())
    pieces = [np.zeros((3, 0), np.int64)]
    while piece := list(islice(pairs, _PAIRS_PER_CHUNK)):
        numbers = np.fromiter(chain.from_iterable(piece), np.int64, 2 * len(piece)).reshape(-1, 2)
        pieces.append(np.vstack((numbers.T, np.fromiter(values, np.int64, len(piece)))))
    return np.hstack(pieces)


def view_of(state: State) -> View:
    """Make a view of a state. The caller holds the lock."""
    bandit = state.bandit
    batches = getattr(bandit, "batches", None)
    return View(
        number=state.number,
        time=state.time,
        resolved=bandit.told,
        status=state.status,
        settings=state.settings,
        bandit=type(bandit).__name__,
        names=tuple(state.rankers),
        champion=bandit.champion,
        alive=bandit.alive,
        decision=bandit.decision(),
        evidence=bandit.evidence_against,
        batches=None if batches is None else tuple(map(tuple, batches)),
        paused=frozenset(state.paused),
        retired=dict(state.retired),
        wins=dict(state.wins),
        ties=dict(state.ties),
    )
