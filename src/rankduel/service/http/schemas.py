"""What goes over the wire: the bodies of requests, strict, and those of answers."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rankduel.live.rules.ubi import MAX_OBJECT_ID_CHARACTERS
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.live.settings import MAX_RANKERS

__all__ = [
    "MOST",
    "NAME_PATTERN",
    "PRINTABLE",
    "Ask",
    "Asked",
    "Broken",
    "Change",
    "CountsOut",
    "Create",
    "DecisionOut",
    "DuelOut",
    "EventOut",
    "Gone",
    "HealthOut",
    "Ingested",
    "JournalPage",
    "KnownDuel",
    "KnownDuels",
    "Leaderboard",
    "Pair",
    "Preferences",
    "Query",
    "RankerOut",
    "RankersIn",
    "RankersOut",
    "Reason",
    "ReceiptOut",
    "Receipts",
    "Show",
    "Shows",
    "StandingOut",
    "StatusOut",
    "Statuses",
    "Summary",
    "Tell",
    "Tells",
    "Timeline",
    "TournamentOut",
    "Tournaments",
]

MOST = 1000  # items of a batch

PRINTABLE = "Printable characters: no control, format, private-use or unassigned ones, no separator but the space."
NAME_PATTERN = "^[^\\x00-\\x1f\\x7f-\\xa0\\xad]+$"  # what a pattern can say of it; the description says all
_PATTERN = {"pattern": NAME_PATTERN}
Name = Annotated[
    str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS, description=PRINTABLE, extra_json_schema=_PATTERN)
]
_PLAIN_VALUES = {"additionalProperties": {"type": ["number", "string", "null"]}}
Options = Annotated[dict[str, Any], Meta(extra_json_schema=_PLAIN_VALUES)]
Share = Annotated[float, Meta(ge=0, le=1)]
Cap = Annotated[int, Meta(ge=0, le=2**53)]
Words = Annotated[str, Meta(max_length=1000)]
Rankers = Annotated[list[Name], Meta(min_length=1, max_length=MAX_RANKERS)]
_IN_TOTAL = f"A tournament has at most {MAX_RANKERS:,} in total."
MoreRankers = Annotated[list[Name], Meta(min_length=1, max_length=MAX_RANKERS - 1, description=_IN_TOTAL)]
OutcomeWord = Literal["first", "second", "tie"]
OutcomeOut = Annotated[str, Meta(extra_json_schema={"enum": ["first", "second", "tie"]})]
StatusWord = Annotated[str, Meta(extra_json_schema={"enum": ["accepted", "duplicate", "conflict", "late", "unknown"]})]
ServeWord = Annotated[str, Meta(extra_json_schema={"enum": ["duel", "baseline", "winner"]})]
StateWord = Annotated[str, Meta(extra_json_schema={"enum": ["running", "paused", "stopped"]})]
_Long = Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)]
DocumentId = Annotated[str, Meta(min_length=1, max_length=MAX_OBJECT_ID_CHARACTERS, description=PRINTABLE)] | _Long


class Body(Struct, forbid_unknown_fields=True):
    """What a client sends: a field that nobody knows is an error, not ignored."""


class Answer(Struct):
    """What a client gets: later versions may add fields."""


# Operate


class Create(Body):
    """A new tournament. Fields that are left out have the defaults of `rankduel.Tournament.create`."""

    name: Name
    rankers: Rankers
    bandit: Annotated[str, Meta(max_length=1000, examples=["CertifiedSparring(delta=0.01)"])] | None = None
    parameters: Options = {}  # of the bandit, by name
    delta: Annotated[float, Meta(gt=0, le=0.5)] | None = None  # of the certified flagship
    tolerance: Annotated[float, Meta(gt=0, le=0.25)] | None = None
    baseline: Name | None = None
    interleaving: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    attribution: dict[str, Any] | UnsetType = UNSET
    share: Share | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    daily_cap: Cap | UnsetType | None = UNSET
    in_flight_cap: Cap | UnsetType | None = UNSET
    guardrails: Annotated[list[dict[str, Any]], Meta(max_length=100)] | UnsetType = UNSET
    expires_after: Annotated[float, Meta(gt=0, lt=1e9)] | UnsetType = UNSET
    seed: Annotated[int, Meta(ge=0, le=2**53)] | None = None


class Change(Body):
    """Settings to change while the tournament runs, and why."""

    baseline: Name | UnsetType | None = UNSET
    share: Share | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    daily_cap: Cap | UnsetType | None = UNSET
    in_flight_cap: Cap | UnsetType | None = UNSET
    guardrails: Annotated[list[dict[str, Any]], Meta(max_length=100)] | UnsetType = UNSET
    attribution: dict[str, Any] | UnsetType | None = UNSET
    reason: Words = ""


class Reason(Body):
    """Why an operator does something: it goes into the journal, with the name of the key."""

    reason: Words = ""


class RankersIn(Body):
    """Rankers that join a tournament."""

    rankers: MoreRankers
    reason: Words = ""


# Traffic


class Query(Body):
    """One search: the same `query_id` gets the same duel."""

    query_id: Name | None = None
    client_id: Name | None = None


class Ask(Body):
    """One search; or `n` duels at once; or one duel for each of `queries`."""

    query_id: Name | None = None
    client_id: Name | None = None
    n: Annotated[int, Meta(ge=1, le=MOST)] | None = None
    queries: Annotated[list[Query], Meta(min_length=1, max_length=MOST)] | None = None


class DuelOut(Answer):
    """Two rankers that should meet on one page, or (`serve` is not "duel") the one to show, as both."""

    duel: str | None  # its id; None: there is nothing to tell
    first: str
    second: str
    seed: int  # of the page: the same lists give the same page
    expires: float  # seconds since 1970
    ticket: str | None
    serve: ServeWord
    why: str | None
    interleaving: str  # how the two lists become a page
    query_id: str | None = None


class Asked(Answer):
    """The duels of a batch, in its order."""

    duels: list[DuelOut]


class Tell(Body):
    """Who won a duel: `ticket` or `duel`, and `outcome`, or `clicks` on the page that was `shown`."""

    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None
    outcome: OutcomeWord | None = None
    clicks: Annotated[list[DocumentId], Meta(max_length=1000)] | None = None
    shown: dict[str, Any] | None = None  # the page, as `Interleaved.to_dict` gives it


Tells = Annotated[list[Tell], Meta(min_length=1, max_length=MOST)]


class ReceiptOut(Answer):
    """What became of something that was told; `outcome` is the one that is stored."""

    status: StatusWord
    outcome: OutcomeOut | None


class Receipts(Answer):
    """The receipts of a batch, in its order."""

    receipts: list[ReceiptOut]


class Show(Body):
    """The page that a user has seen for a duel (`ticket` or `duel`): clicks on it can be attributed."""

    shown: dict[str, Any]  # as `Interleaved.to_dict` gives it
    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None


Shows = Annotated[list[Show], Meta(min_length=1, max_length=MOST)]


class StatusOut(Answer):
    """What became of a page that was shown."""

    status: StatusWord


class Statuses(Answer):
    """What became of the pages of a batch, in its order."""

    statuses: list[StatusWord]


class Ingested(Answer):
    """What became of each event, in their order: a status, or `invalid`; and what is wrong with the invalid ones."""

    statuses: list[str]
    errors: list[str]


# Where a tournament stands


class CountsOut(Answer):
    """How many duels, by what became of them."""

    issued: int
    shown: int  # pages that were reported as shown
    resolved: int  # told, and learnt
    no_signal: int
    expired: int
    late: int  # told after they had expired: not learnt
    void: int
    failed: int  # could not be resolved
    in_flight: int


class Summary(Answer):
    """A tournament in the list of them."""

    name: str
    status: StateWord
    champion: str
    winner: str | None
    rankers: int
    rankers_left: int
    duels: CountsOut


class Broken(Answer):
    """A tournament that cannot be opened, and why. `rankduel storage verify --repair` may help."""

    name: str
    reason: str


class Tournaments(Answer):
    """A page of tournaments by name; `next` is the `after` of the next page."""

    tournaments: list[Summary]
    broken: list[Broken]
    next: str | None


class TournamentOut(Summary):
    """A tournament with its settings."""

    settings: dict[str, Any]


class StandingOut(Answer):
    """A line of the leaderboard."""

    ranker: str
    state: str  # champion, left, paused, out or retired
    wins: int
    losses: int
    ties: int
    rate: float


class RankerOut(Answer):
    """A ranker of a tournament."""

    ranker: str


class RankersOut(Answer):
    """A page of the rankers that ever took part, in the order in which they came."""

    rankers: list[RankerOut]
    next: int | None


class Leaderboard(Answer):
    """A page of the leaderboard, best first."""

    standings: list[StandingOut]
    next: int | None


class DecisionOut(Answer):
    """The end of a tournament, or where it stands."""

    winner: str | None
    tied: list[str]
    champion: str
    left: list[str]
    eliminated: list[str]
    delta: float | None
    tolerance: float | None
    text: str


class Gone(Answer):
    """A ranker that is out: after how many outcomes, by whom, on what evidence, and how many were left."""

    ranker: str
    told: int
    by: str | None
    evidence: float | None
    left: int


class Timeline(Answer):
    """A page of the rankers that are out, in the order in which they went."""

    departures: list[Gone]
    next: int | None


class Pair(Answer):
    """How often two rankers have met, and who won."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int


class Preferences(Answer):
    """A page of the pairs that have met."""

    pairs: list[Pair]
    next: int | None


class KnownDuel(Answer):
    """A duel as it is stored."""

    duel: str
    query_id: str | None
    first: str
    second: str
    state: str  # issued, shown, told, no_signal, expired, late, void or failed
    outcome: OutcomeOut | None
    issued: float
    expires: float


class KnownDuels(Answer):
    """A page of duels, newest first."""

    duels: list[KnownDuel]
    next: str | None


class HealthOut(Answer):
    """Whether a tournament is well: what became of asks, tells and signals, and what has failed."""

    duels: CountsOut
    joined: float  # the share of the duels that are over and were told in time
    served: dict[str, int]  # asks without a duel, by why
    told_again: int
    conflicts: int
    unknown: int  # tells of duels that there never were
    signals: dict[str, int]  # by declared action; all others are "other"
    signals_again: int
    signals_dropped: int  # their duels had as many signals as a duel may have
    orphans: int  # signals of queries without a duel
    late_signals: int
    outcomes: dict[str, int]
    delays: dict[str, int]  # tells by seconds since the ask: at most 1, at most 10, ...
    failure: str | None  # of the storage or of the bandit
    maintenance: str | None  # why duels are not resolved, do not expire, or guardrails are not checked


class EventOut(Answer):
    """A line of the journal."""

    number: int
    time: float
    kind: str
    body: dict[str, Any]


class JournalPage(Answer):
    """A page of the journal, oldest first."""

    events: list[EventOut]
    next: int | None
