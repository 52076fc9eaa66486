"""Results of a tournament's methods: duels, receipts, counts, health, leaderboard lines and decisions."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol, Self

from rankduel.interleaving import Interleaved, Interleaving
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.signals import Clicks
from rankduel.live.rules.validation import as_list, brief
from rankduel.types import Outcome

__all__ = [
    "Counts",
    "Departure",
    "Health",
    "LiveDecision",
    "LiveDuel",
    "Meeting",
    "Receipt",
    "Standing",
    "TicketSigner",
    "outcome_or_clicks",
]


class TicketSigner(Protocol):
    """Makes the tickets of a tournament in this process."""

    def of(self, row: DuelRow) -> str:
        """The ticket of a duel."""


@dataclass(slots=True)
class LiveDuel:
    """Two rankers that should meet on one page; or, without an `id`, what to show instead: `first` alone.

    `serve` is `duel`, `baseline` or `winner`, and `why` says why there is no duel: `paused`, `stopped`, `decided`,
    `share`, `daily_cap`, `in_flight_cap`, `shadow` or `storage`. `expires` is in seconds since 1970.
    """

    id: str | None
    first: str
    second: str
    seed: int
    expires: float
    method: Interleaving = field(repr=False, compare=False)
    serve: str = "duel"
    why: str | None = None
    shown: Interleaved | None = field(default=None, repr=False, compare=False)  # by `interleave`
    # Where this process has issued the duel: its row, and what signs it when somebody wants the ticket.
    _row: DuelRow | None = field(default=None, repr=False, compare=False)
    _signer: TicketSigner | None = field(default=None, repr=False, compare=False)
    # Where a service has issued it.
    _ticket: str | None = field(default=None, repr=False, compare=False)

    @property
    def ticket(self) -> str | None:
        """The signed duel, as text: a tell with the ticket counts even if a crash has lost the ask."""
        if self._row is not None and self._signer is not None:
            return self._signer.of(self._row)
        return self._ticket

    def row_signed_by(self, signer: TicketSigner) -> DuelRow | None:
        """The row of the duel, if this signer vouches for it."""
        return self._row if self._signer is signer else None

    def interleave(self, list_a: Iterable[Hashable], list_b: Iterable[Hashable], k: int = 10) -> Interleaved:
        """The page for the lists of `first` and `second`, best document first; the same again for the same lists.

        It carries the best k of both lists, for people who look at the duel later. A search that finds nothing has a
        page without documents.
        """
        if all(isinstance(found, Sized) and not len(found) for found in (list_a, list_b)):
            self.shown = Interleaved(self.method.name, ())
        else:
            first, second = (tuple(found) if isinstance(found, Iterator) else found for found in (list_a, list_b))
            made = self.method.interleave(first, second, k, seed=self.seed)
            self.shown = replace(made, lists=(tuple(islice(first, k)), tuple(islice(second, k))))
        return self.shown


def outcome_or_clicks(
    duel: LiveDuel | str,
    outcome: Outcome | None,
    clicks: Iterable[Hashable] | None,
    shown: Interleaved | None,
) -> Outcome | Clicks | None:
    """Check the arguments of a tell: the outcome, or the clicks with their page; None where there was no duel."""
    if clicks is None:
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(outcome)}")
        return outcome
    if outcome is not None:
        raise ValueError("tell either the outcome or the clicks, not both")
    documents = tuple(as_list("clicks", clicks))
    if shown is None and isinstance(duel, LiveDuel):
        shown = duel.shown
        if shown is None and duel.id is None:
            return None
    if shown is None:
        raise ValueError("clicks are credited on a page: call duel.interleave first, or hand it over as shown=")
    if not isinstance(shown, Interleaved):
        raise TypeError(f"a page is what duel.interleave() has returned, got {brief(shown)}")
    return Clicks(documents, shown)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a `tell`. `outcome` is the one that is stored; None for an unknown duel, or nothing to learn."""

    status: Status
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many duels: issued = resolved + no_signal + expired + void + failed + in flight.

    Some of the expired ones were told `late`. `shown` counts pages reported as shown, whatever became of them.
    """

    issued: int = 0
    shown: int = 0
    resolved: int = 0
    no_signal: int = 0
    expired: int = 0
    late: int = 0
    void: int = 0
    failed: int = 0  # could not be resolved: their page or signals are unusable

    @classmethod
    def of(cls, counters: Mapping[str, int]) -> Self:
        """From the counters of a tournament, which has others, too."""
        return cls(*(counters.get(name, 0) for name in cls.__slots__))

    @property
    def in_flight(self) -> int:
        """Issued, and nothing else became of them yet."""
        return self.issued - self.resolved - self.no_signal - self.expired - self.void - self.failed


@dataclass(frozen=True, slots=True)
class Health:
    """Whether all is well: what became of asks, tells and signals, and what has failed."""

    counts: Counts
    served: dict[str, int]  # asks without a duel, by why
    told_again: int  # the same a second time
    conflicts: int
    unknown: int  # tells of duels that there never were
    signals: dict[str, int]  # by declared action; all others are "other"
    signals_again: int
    signals_dropped: int  # their duels had as many signals as a duel may have
    orphans: int  # signals of queries without a duel, or about documents that were not shown
    late_signals: int
    outcomes: dict[str, int]  # first, second, tie: with fair pages, the first two are about the same
    delays: dict[int, int]  # tells by seconds since the ask: at most 1, at most 10, ...
    failure: str | None  # of the storage or of the bandit
    maintenance: str | None  # why duels are not resolved, do not expire, or guardrails are not checked

    @property
    def joined(self) -> float:
        """The share of the duels that are over and were told in time; 1 while there is none."""
        over = self.counts.resolved + self.counts.no_signal + self.counts.expired
        return (self.counts.resolved + self.counts.no_signal) / over if over else 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the leaderboard. A duel of a ranker with itself is a win and a loss."""

    ranker: str
    state: str  # champion, left, paused, out or retired
    wins: int
    losses: int
    ties: int

    @property
    def duels(self) -> int:
        """Sides that it has played."""
        return self.wins + self.losses + self.ties

    @property
    def rate(self) -> float:
        """The share of its duels that it won, ties as half; 1/2 without a duel."""
        return (self.wins + self.ties / 2) / self.duels if self.duels else 0.5


@dataclass(frozen=True, slots=True)
class Departure:
    """A ranker that is out: after how many outcomes, by whom, and on what evidence (a natural logarithm)."""

    ranker: str
    resolved: int
    by: str | None
    evidence: float | None
    left: int  # rankers left afterwards


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two rankers that have met: how often each won."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """The end of a tournament, or where it stands, by names of rankers."""

    winner: str | None
    tied: tuple[str, ...]
    champion: str
    left: tuple[str, ...]
    eliminated: tuple[str, ...]  # in their order
    delta: float | None  # the largest chance that the best is not among those left; None: nothing is guaranteed
    tolerance: float | None  # within which the tied ones are even

    def __str__(self) -> str:
        left = f"{self.left[0]}" if len(self.left) == 1 else f"one of the {len(self.left)} left"
        if self.winner is not None:
            head = f"The winner is {self.winner}."
        elif self.tied:
            head = f"{', '.join(self.tied)} are tied."
        else:
            head = f"Not decided: {len(self.left)} rankers are left, and {self.champion} is ahead."
        if self.delta is None:
            return f"{head} Nothing is guaranteed."
        sure = f"With probability {1 - self.delta:g} at least, at whatever time you look"
        text = f"{head} {sure}: if some ranker is at least as good as each other one, it is {left}"
        if self.tied and self.tolerance is not None:
            text += f", and each two of them are within {self.tolerance:g} of even"
        return f"{text}."
