"""Return values of a tournament: duels, receipts, counts, health, leaderboard rows and decisions."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol, Self

from rankduel.bandits import Decision
from rankduel.bandits.decision_text import DecisionFacts, headline, meaning
from rankduel.interleaving import Interleaved, Interleaving
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.signals import Clicks
from rankduel.live.rules.validation import as_list, brief
from rankduel.types import Outcome

__all__ = [
    "Counts",
    "Decided",
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
    """Signs the tickets of a tournament."""

    def of(self, row: DuelRow) -> str:
        """Return the ticket of a duel."""


@dataclass(slots=True)
class LiveDuel:
    """Two rankers to compare on one page. Without an `id` there is no duel: show the results of `first` alone.

    `serve` is `duel`, `baseline` or `winner`. `why` is the reason if there is no duel: `paused`, `stopped`, `decided`,
    `share`, `daily_cap`, `in_flight_cap`, `shadow`, `storage` or `failed`. `expires` is in seconds since 1970.
    """

    id: str | None
    first: str
    second: str
    seed: int
    expires: float
    method: Interleaving = field(repr=False, compare=False)
    serve: str = "duel"
    why: str | None = None
    shown: Interleaved | None = field(default=None, repr=False, compare=False)  # set by `interleave`
    # Of a duel that this process issued: its row, and the signer of its ticket.
    _row: DuelRow | None = field(default=None, repr=False, compare=False)
    _signer: TicketSigner | None = field(default=None, repr=False, compare=False)
    # Of a duel that a service issued.
    _ticket: str | None = field(default=None, repr=False, compare=False)

    @property
    def ticket(self) -> str | None:
        """The signed duel as text. A tell with the ticket counts even if a crash lost the ask."""
        if self._row is not None and self._signer is not None:
            return self._signer.of(self._row)
        return self._ticket

    def row_signed_by(self, signer: TicketSigner) -> DuelRow | None:
        """Return the row of the duel, if this signer made it; None otherwise."""
        return self._row if self._signer is signer else None

    def interleave(self, list_a: Iterable[Hashable], list_b: Iterable[Hashable], k: int = 10) -> Interleaved:
        """Interleave the results of `first` (`list_a`) and `second` (`list_b`), best document first, into a page.

        The same lists give the same page. The page also keeps the top k of both lists, for later inspection. Two empty
        lists give a page without documents.
        """
        if all(isinstance(documents, Sized) and not len(documents) for documents in (list_a, list_b)):
            self.shown = Interleaved(self.method.name, ())
        else:
            first, second = (tuple(given) if isinstance(given, Iterator) else given for given in (list_a, list_b))
            page = self.method.interleave(first, second, k, seed=self.seed)
            self.shown = replace(page, lists=(tuple(islice(first, k)), tuple(islice(second, k))))
        return self.shown


def outcome_or_clicks(
    duel: LiveDuel | str,
    outcome: Outcome | None,
    clicks: Iterable[Hashable] | None,
    shown: Interleaved | None,
) -> Outcome | Clicks | None:
    """Check the arguments of a tell. Return the outcome, or the clicks with their page; None if there was no duel."""
    if clicks is None:
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(outcome)}")
        return outcome
    if outcome is not None:
        raise ValueError(f"pass either outcome or clicks, not both; got outcome={brief(outcome)} and clicks")
    documents = tuple(as_list("clicks", clicks))
    if shown is None and isinstance(duel, LiveDuel):
        shown = duel.shown
        if shown is None and duel.id is None:
            return None
    if shown is None:
        raise ValueError("no page given; call duel.interleave() first, or pass shown=")
    if not isinstance(shown, Interleaved):
        raise TypeError(f"a page must be what duel.interleave() returned, got {brief(shown)}")
    return Clicks(documents, shown)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a `tell`. `outcome` is the stored outcome; None for an unknown duel or a duel without a signal."""

    status: Status
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of duels by state: issued = resolved + no_signal + expired + void + failed + in flight.

    `late` counts expired duels whose outcome arrived later. `shown` counts pages reported as shown, in any state.
    """

    issued: int = 0
    shown: int = 0
    resolved: int = 0
    no_signal: int = 0
    expired: int = 0
    late: int = 0
    void: int = 0
    failed: int = 0  # could not be resolved, because of an unusable page or unusable signals

    @classmethod
    def of(cls, counters: Mapping[str, int]) -> Self:
        """Make counts from all counters of a tournament."""
        return cls(*(counters.get(name, 0) for name in cls.__slots__))

    @property
    def in_flight(self) -> int:
        """The number of issued duels that are neither resolved, expired, void nor failed."""
        return self.issued - self.resolved - self.no_signal - self.expired - self.void - self.failed


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a tournament: counters of asks, tells and signals, and current failures."""

    counts: Counts
    served: dict[str, int]  # asks without a duel, by reason
    told_again: int  # tells that repeated the stored outcome
    conflicts: int  # tells that contradicted the stored outcome
    unknown: int  # tells of unknown duels
    signals: dict[str, int]  # by declared action; undeclared actions are "other"
    signals_again: int  # duplicate signals
    signals_dropped: int  # signals above the limit of their duel
    orphans: int  # signals of queries without a duel, or about documents that were not shown
    late_signals: int  # signals after the window or after the duel was over
    outcomes: dict[str, int]  # first, second, tie; with fair pages, first and second win about equally often
    delays: dict[int, int]  # tells by seconds since the ask: at most 1, at most 10, ...
    failure: str | None  # of the storage or the bandit
    maintenance: str | None  # why maintenance failed
    clock: str | None  # what is wrong with the clock of the server

    @property
    def joined(self) -> float:
        """The share of the finished duels that got a result before they expired; 1 while none is finished."""
        finished = self.counts.resolved + self.counts.no_signal + self.counts.expired
        return (self.counts.resolved + self.counts.no_signal) / finished if finished else 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the leaderboard. A duel of a ranker with itself counts as a win and a loss."""

    ranker: str
    state: str  # champion, left, paused, eliminated or retired
    wins: int
    losses: int
    ties: int

    @property
    def duels(self) -> int:
        """The number of sides that it has played."""
        return self.wins + self.losses + self.ties

    @property
    def rate(self) -> float:
        """The share of its duels that it won, with ties as half a win; 1/2 without duels."""
        return (self.wins + self.ties / 2) / self.duels if self.duels else 0.5

    @property
    def win_share(self) -> float:
        """The share of its decisive duels (no ties) that it won; 1/2 without decisive duels."""
        return self.wins / (self.wins + self.losses) if self.wins + self.losses else 0.5

    @property
    def tie_share(self) -> float:
        """The share of its duels that were ties; 0 without duels."""
        return self.ties / self.duels if self.duels else 0.0


@dataclass(frozen=True, slots=True)
class Departure:
    """A ranker that was eliminated or retired."""

    ranker: str
    resolved: int  # duels resolved by then
    by: str | None  # the ranker that eliminated it
    evidence: float | None  # against it, as a natural logarithm
    left: int  # rankers left afterwards
    state: str  # eliminated or retired


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two rankers that have met, with the results of their duels."""

    first: str
    second: str
    wins: int  # of first
    losses: int  # of first
    ties: int


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """The decision of a tournament, by names of rankers: a winner, tied rankers, or neither yet."""

    winner: str | None
    tied: tuple[str, ...]
    champion: str
    left: tuple[str, ...]
    eliminated: tuple[str, ...]  # in their order
    delta: float | None  # the largest probability that the best ranker was eliminated; None: no guarantee
    tolerance: float | None  # tied rankers beat each other with a probability within it of one half
    tried: int  # rankers that ever took part
    retired: int  # rankers that an operator has retired
    resolved: int  # duels
    p_best_exists: float  # p-value of "one ranker is at least as good as all others"
    copeland: tuple[str, ...]  # win most pairs; an estimate, given if the p-value is small
    stopped: bool = False  # whether the tournament was stopped

    @classmethod
    def of(
        cls,
        found: Decision,
        names: Sequence[str],
        *,
        champion: int,
        retired: int,
        resolved: int,
        stopped: bool = False,
    ) -> Self:
        """Make a decision by names from the decision of a bandit. `retired` and `resolved` are numbers."""
        return cls(
            winner=None if found.winner is None else names[found.winner],
            tied=tuple(names[arm] for arm in found.tied),
            champion=names[champion],
            left=tuple(names[arm] for arm in found.confidence.alive),
            eliminated=tuple(names[gone.arm] for gone in found.eliminated),
            delta=found.confidence.delta,
            tolerance=found.confidence.tolerance,
            tried=len(names),
            retired=retired,
            resolved=resolved,
            p_best_exists=found.confidence.p_best_exists,
            copeland=tuple(names[arm] for arm in found.copeland),
            stopped=stopped,
        )

    @property
    def headline(self) -> str:
        """What is decided, in one line."""
        return headline(self._facts())

    @property
    def meaning(self) -> str:
        """The assumptions on which the headline holds."""
        return meaning(self._facts())

    def __str__(self) -> str:
        return f"{self.headline}\n{self.meaning}"

    def _facts(self) -> DecisionFacts:
        return DecisionFacts(
            left=len(self.left),
            tried=self.tried,
            retired=self.retired,
            resolved=self.resolved,
            leader=self.champion,
            winner=self.winner,
            tied=self.tied,
            delta=self.delta,
            tolerance=self.tolerance,
            p_best_exists=self.p_best_exists,
            copeland=self.copeland,
            stopped=self.stopped,
        )


class Decided(NamedTuple):
    """A decision, with the number and time of the event of the journal that made it."""

    number: int
    time: float
    winner: str | None
    tied: tuple[str, ...]
    headline: str
