"""Schemas of response bodies. Later versions may add fields, so ignore unknown ones."""

from typing import Any

from msgspec import Struct

from rankduel.service.http.schema_types import OutcomeOut, Serve, State, TellStatus

__all__ = [
    "Broken",
    "Counts",
    "Decision",
    "Defaults",
    "Deleted",
    "Departure",
    "Duel",
    "DuelPage",
    "Duels",
    "Erased",
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
    "Rollout",
    "ShowStatus",
    "ShowStatuses",
    "Standing",
    "StoredDuel",
    "Summary",
    "TimelinePage",
    "Tournament",
    "TournamentPage",
    "Webhook",
    "WebhookList",
]


class Duel(Struct):
    """The two rankers to interleave. If `serve` is not "duel", both are the ranker to show."""

    duel: str | None  # the id; None: there is no duel to tell
    first: str
    second: str
    seed: int  # for interleaving: the same lists give the same page
    expires: float  # seconds since 1970
    ticket: str | None
    serve: Serve
    why: str | None
    interleaving: str  # the interleaving method to use
    query_id: str | None = None


class Duels(Struct):
    """The duels of a batch, in the order of the request."""

    duels: list[Duel]


class Receipt(Struct):
    """The result of a tell. `outcome` is the stored outcome."""

    status: TellStatus
    outcome: OutcomeOut | None


class Receipts(Struct):
    """The receipts of a batch, in the order of the request."""

    receipts: list[Receipt]


class ShowStatus(Struct):
    """The result of reporting a page."""

    status: TellStatus


class ShowStatuses(Struct):
    """The results of reporting a batch of pages, in the order of the request."""

    statuses: list[TellStatus]


class Ingested(Struct):
    """One status per event, in the order of the request, and one error per event with the status `invalid`."""

    statuses: list[str]
    errors: list[str]


class Counts(Struct):
    """Numbers of duels by status."""

    issued: int
    shown: int  # with a page that was reported as shown
    resolved: int  # with an outcome that the bandit learnt from
    no_signal: int
    expired: int
    late: int  # told after they had expired: the bandit does not learn from them
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
    """A tournament that cannot be opened, and the reason. Try `rankduel storage verify --repair`."""

    name: str
    reason: str


class TournamentPage(Struct):
    """A page of tournaments in alphabetical order. Send `next` as `after` to get the next page."""

    tournaments: list[Summary]
    broken: list[Broken]
    next: str | None


class Rollout(Struct):
    """The ranker that is rolled out, and the share of all traffic that sees it."""

    ranker: str
    share: float


class Tournament(Summary):
    """A tournament with its settings, and what users see.

    `effects` has a sentence for each action that is possible now: what users will see after it.
    """

    rollout: Rollout | None
    users_see: str
    effects: dict[str, str]
    settings: dict[str, Any]


class Deleted(Struct):
    """The name of the tournament that was deleted. It can be used again."""

    name: str


class Defaults(Struct):
    """The defaults of a new tournament, and of a guardrail and a roll-out. Null means none, or a random seed."""

    bandit: str
    delta: float
    tolerance: float | None
    interleaving: str
    expires_after: float
    seed: int | None
    draft: bool
    baseline: str | None  # null: the first ranker
    external_baseline: bool
    share: float
    shadow: bool
    after_decision: str
    daily_cap: int | None
    in_flight_cap: int | None
    guardrails: list[dict[str, Any]]
    attribution: dict[str, Any]
    guardrail_window: float
    guardrail_minimum: int
    rollout_share: float


class Standing(Struct):
    """A row of the leaderboard. `rate` counts a tie as half a win, and `win_share` leaves ties out."""

    ranker: str
    state: str  # champion, left, paused, eliminated or retired
    wins: int
    losses: int
    ties: int
    rate: float
    win_share: float  # of the duels that were no ties
    tie_share: float  # of all duels


class Ranker(Struct):
    """A ranker of a tournament."""

    ranker: str


class RankerPage(Struct):
    """A page of all rankers, including eliminated and retired ones, in the order in which they were added."""

    rankers: list[Ranker]
    next: int | None


class LeaderboardPage(Struct):
    """A page of the leaderboard, best first."""

    standings: list[Standing]
    next: int | None


class Decision(Struct):
    """The decision of a tournament: a winner, tied rankers, or neither yet."""

    headline: str  # what is decided, in one line
    meaning: str  # the assumptions on which the headline holds
    winner: str | None
    tied: list[str]
    champion: str
    left: list[str]
    eliminated: list[str]
    delta: float | None  # the largest probability that the best ranker was eliminated; null: no guarantee
    tolerance: float | None  # tied rankers beat each other with a probability within it of one half
    tried: int  # rankers that ever took part
    retired: int  # rankers that an operator has retired
    resolved: int  # duels
    p_best_exists: float  # p-value of "one ranker is at least as good as all others"
    copeland: list[str]  # win most pairs; an estimate, given if the p-value is small
    stopped: bool  # whether the tournament was stopped


class Departure(Struct):
    """An eliminated or retired ranker. `resolved` duels and `left` rankers are the numbers at that time.

    `evidence` is the evidence against the ranker, and `enough` the evidence that eliminated a ranker at that time. Both
    are natural logarithms. They are null if they are unknown, or if the elimination rule keeps no evidence.
    """

    ranker: str
    resolved: int
    by: str | None
    evidence: float | None
    enough: float | None
    left: int
    state: str  # eliminated or retired


class TimelinePage(Struct):
    """A page of eliminated and retired rankers, in the order in which they left."""

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
    """A page of the pairs of rankers that have met."""

    pairs: list[Pair]
    next: int | None


class StoredDuel(Struct):
    """A stored duel."""

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
    joined: float  # share of finished duels that were resolved in time
    served: dict[str, int]  # asks without a duel, by reason
    told_again: int
    conflicts: int
    unknown: int  # tells for unknown duels
    signals: dict[str, int]  # by declared action; other actions count as "other"
    signals_again: int
    signals_dropped: int  # because the duel already had the maximum number of signals
    orphans: int  # signals for queries without a duel
    late_signals: int
    outcomes: dict[str, int]
    delays: dict[str, int]  # tells by seconds since the ask: up to 1, up to 10, ...
    failure: str | None  # of the storage or of the bandit
    maintenance: str | None  # why duels are not resolved, do not expire, or guardrails are not checked
    clock: str | None  # what is wrong with the clock of the server


class Erased(Struct):
    """The number of duels of the erased client."""

    duels: int


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


class Webhook(Struct):
    """A webhook, since the start of the process. Of several processes, only the one that delivers counts messages."""

    name: str
    delivered: int  # accepted messages
    failed: int  # failed attempts
    given_up: int  # messages that were not accepted within three days
    pending: int  # messages that wait for their next attempt
    problem: str | None  # of the last attempt; null if it succeeded


class WebhookList(Struct):
    """All webhooks of the service."""

    webhooks: list[Webhook]
