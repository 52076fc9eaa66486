"""All that a tournament has learnt, at one moment: what reports are made of, without keeping anybody waiting."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rankduel.bandits import Decision
from rankduel.live.settings import Settings
from rankduel.live.state import State

__all__ = ["View", "view_of"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class View:
    """A copy: the tournament goes on. Rankers are numbers here, those of `names`."""

    number: int  # of the last event
    time: float  # of the last event
    told: int  # outcomes that were learnt
    status: str
    settings: Settings
    bandit: str  # the class
    names: tuple[str, ...]
    champion: int
    alive: Integers
    decision: Decision
    evidence: npt.NDArray[np.float64] | None  # against each ranker, a natural logarithm
    batches: tuple[tuple[int, ...], ...] | None  # None where the bandit has none
    paused: frozenset[int]
    retired: frozenset[int]
    wins: dict[tuple[int, int], int] = field(repr=False)  # of the first over the second
    ties: dict[tuple[int, int], int] = field(repr=False)

    @cached_property
    def meetings(self) -> Integers:
        """Rows of ranker i, ranker j >= i, wins of i, wins of j and ties, for all pairs that have met."""
        parts = []
        for counts, low, high in ((self.wins, 2, 3), (self.ties, 4, 4)):
            rows = np.zeros((len(counts), 5), np.int64)
            if counts:
                pairs = np.array(list(counts), np.int64)
                swapped = pairs[:, 0] > pairs[:, 1]
                rows[:, 0], rows[:, 1] = pairs.min(1), pairs.max(1)
                rows[np.arange(len(rows)), np.where(swapped, high, low)] = list(counts.values())
            parts.append(rows)
        rows = np.concatenate(parts)
        keys, places = np.unique(rows[:, 0] * len(self.names) + rows[:, 1], return_inverse=True)
        table = np.zeros((len(keys), 5), np.int64)
        table[:, 0], table[:, 1] = np.divmod(keys, len(self.names))
        for column in (2, 3, 4):
            table[:, column] = np.bincount(places, rows[:, column], len(keys))
        return table

    @cached_property
    def records(self) -> Integers:
        """Wins, losses and ties of each ranker. A duel of a ranker with itself is a win and a loss."""
        i, j, won, lost, tied = self.meetings.T
        n, other = len(self.names), i != j
        totals = [
            np.bincount(i, won, n) + np.bincount(j, lost, n),
            np.bincount(i, lost, n) + np.bincount(j, won, n),
            np.bincount(i, tied, n) + np.bincount(j[other], tied[other], n),
        ]
        return np.array(totals).T.astype(np.int64)

    @property
    def enough(self) -> float | None:
        """The evidence, as a logarithm, at which a ranker goes; None where the rule keeps none."""
        confidence = self.decision.confidence
        if self.evidence is None or confidence.delta is None:
            return None
        shares = 1 if confidence.tolerance is None else 2 * len(self.alive)  # of delta: see "Tied sets" in the docs
        return float(np.log(shares / confidence.delta))

    @property
    def ends(self) -> bool:
        """Whether rankers are eliminated, so that one remains; others play on for ever."""
        return self.enough is not None or self.batches is not None


def view_of(state: State) -> View:
    """A view of a state, which must not change meanwhile."""
    bandit = state.bandit
    batches = getattr(bandit, "batches", None)
    return View(
        number=state.number,
        time=state.time,
        told=bandit.told,
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
        retired=frozenset(state.retired),
        wins=dict(state.wins),
        ties=dict(state.ties),
    )
