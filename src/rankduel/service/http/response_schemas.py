"""Schemas of response bodies. Later versions may add fields."""

from typing import Any

from msgspec import Struct

from rankduel.service.http.schema_types import OutcomeOut, Serve, State, TellStatus

__all__ = [
    "Broken",
    "Counts",
    "Decision",
    "Departure",
    "Duel",
    "DuelPage",
    "Duels",
    "Event",
    "Health",
    "Ingested",
    "JournalPage",
    "LeaderboardPage",
    "Pair",
    "PairPage",
    "Ranker",
    "RankerPage",
    "Receipt",
    "Receipts",
    "ShowStatus",
    "ShowStatuses",
    "Standing",
    "StoredDuel",
    "Summary",
    "TimelinePage",
    "Tournament",
    "TournamentPage",
]


class Duel(Struct):
    """Two rankers whose results to interleave; or, if `serve` is not "duel", the one to show, as both."""

    duel: str | None  # its id; None: there is nothing to tell
    first: str
    second: str
    seed: int  # of the interleaving: the same lists give the same page
    expires: float  # seconds since 1970
    ticket: str | None
    serve: Serve
    why: str | None
    interleaving: str  # the method that makes a page of two lists
    query_id: str | None = None


class Duels(Struct):
    """The duels of a batch, in its order."""

    duels: list[Duel]


class Receipt(Struct):
    """The result of a tell; `outcome` is the stored one."""

    status: TellStatus
    outcome: OutcomeOut | None


class Receipts(Struct):
    """The receipts of a batch, in its order."""

    receipts: list[Receipt]


class ShowStatus(Struct):
    """The result of reporting a page."""

    status: TellStatus


class ShowStatuses(Struct):
    """The results of reporting the pages of a batch, in its order."""

    statuses: list[TellStatus]


class Ingested(Struct):
    """A status for each event, in their order, `invalid` among them, and an error for each invalid event."""

    statuses: list[str]
    errors: list[str]


class Counts(Struct):
    """Number of duels by state."""

    issued: int
    shown: int  # pages that were reported as shown
    resolved: int  # with an outcome that was learnt
    no_signal: int
    expired: int
    late: int  # resolved after they had expired: not learnt
    void: int
    failed: int  # could not be resolved
    in_flight: int


class Summary(Struct):
    """A tournament in the list of tournaments."""

    name: str
    status: State
    champion: str
    winner: str | None
    rankers: int
    rankers_left: int
    duels: Counts


class Broken(Struct):
    """A tournament that cannot be opened, and the reason. `rankduel storage verify --repair` may help."""

    name: str
    reason: str


class TournamentPage(Struct):
    """A page of tournaments by name; `next` is the `after` of the next page."""

    tournaments: list[Summary]
    broken: list[Broken]
    next: str | None


class Tournament(Summary):
    """A tournament with its settings."""

    settings: dict[str, Any]


class Standing(Struct):
    """A row of the leaderboard."""

    ranker: str
    state: str  # champion, left, paused, out or retired
    wins: int
    losses: int
    ties: int
    rate: float


class Ranker(Struct):
    """A ranker of a tournament."""

    ranker: str


class RankerPage(Struct):
    """A page of all rankers that ever took part, in the order in which they were added."""

    rankers: list[Ranker]
    next: int | None


class LeaderboardPage(Struct):
    """A page of the leaderboard, best first."""

    standings: list[Standing]
    next: int | None


class Decision(Struct):
    """The decision of a tournament, or its current state."""

    winner: str | None
    tied: list[str]
    champion: str
    left: list[str]
    eliminated: list[str]
    delta: float | None
    tolerance: float | None
    text: str


class Departure(Struct):
    """A ranker that is out: after how many outcomes, by which ranker, on what evidence, and how many were left."""

    ranker: str
    resolved: int
    by: str | None
    evidence: float | None
    left: int


class TimelinePage(Struct):
    """A page of the rankers that are out, in the order in which they went."""

    departures: list[Departure]
    next: int | None


class Pair(Struct):
    """The duels between two rankers."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int


class PairPage(Struct):
    """A page of the pairs that have met."""

    pairs: list[Pair]
    next: int | None


class StoredDuel(Struct):
    """A duel as it is stored."""

    duel: str
    query_id: str | None
    first: str
    second: str
    state: str  # issued, shown, resolved, no_signal, expired, late, void or failed
    outcome: OutcomeOut | None
    issued: float
    expires: float


class DuelPage(Struct):
    """A page of duels, newest first."""

    duels: list[StoredDuel]
    next: str | None


class Health(Struct):
    """Counters of asks, tells and signals, and failures."""

    duels: Counts
    joined: float  # share of the finished duels that were resolved in time
    served: dict[str, int]  # asks without a duel, by reason
    told_again: int
    conflicts: int
    unknown: int  # tells of duels that do not exist
    signals: dict[str, int]  # by declared action; all others are "other"
    signals_again: int
    signals_dropped: int  # their duels had the maximum number of signals
    orphans: int  # signals of queries without a duel
    late_signals: int
    outcomes: dict[str, int]
    delays: dict[str, int]  # tells by seconds since the ask: at most 1, at most 10, ...
    failure: str | None  # of the storage or of the bandit
    maintenance: str | None  # why duels are not resolved, do not expire, or guardrails are not checked


class Event(Struct):
    """An event of the journal."""

    number: int
    time: float
    kind: str
    body: dict[str, Any]


class JournalPage(Struct):
    """A page of the journal, oldest first."""

    events: list[Event]
    next: int | None
