"""Schemas of request bodies. Unknown fields are errors."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from rankduel.live.defaults import DEFAULT_ROLLOUT_SHARE
from rankduel.service.http.schema_types import (
    MAX_ITEMS_PER_BATCH,
    AfterDecision,
    AttributionIn,
    Cap,
    DocumentId,
    MoreRankers,
    Name,
    Options,
    OutcomeIn,
    Rankers,
    ReasonText,
    RolloutShare,
    Share,
)

__all__ = [
    "AddRankers",
    "Ask",
    "Body",
    "ChangeSettings",
    "CreateTournament",
    "EraseClient",
    "Query",
    "Reason",
    "RollOut",
    "Show",
    "Shows",
    "Tell",
    "Tells",
]


class Body(Struct, forbid_unknown_fields=True):
    """A request body without unknown fields."""


# Operators


class CreateTournament(Body):
    """A new tournament. Fields that you omit have the defaults of `rankduel.Tournament.create`."""

    name: Name
    rankers: Rankers
    bandit: Annotated[str, Meta(max_length=1000, examples=["CertifiedSparring(delta=0.01)"])] | None = None
    parameters: Options = {}  # options of the bandit by name
    delta: Annotated[float, Meta(gt=0, le=0.5)] | None = None  # for the default bandit
    tolerance: Annotated[float, Meta(gt=0, le=0.25)] | None = None
    baseline: Name | None = None  # null: the first ranker
    external_baseline: bool | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    interleaving: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    attribution: AttributionIn | UnsetType = UNSET
    share: Share | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    after_decision: AfterDecision | UnsetType = UNSET
    daily_cap: Cap | UnsetType | None = UNSET
    in_flight_cap: Cap | UnsetType | None = UNSET
    guardrails: Annotated[list[dict[str, Any]], Meta(max_length=100)] | UnsetType = UNSET
    expires_after: Annotated[float, Meta(gt=0, lt=1e9)] | UnsetType = UNSET
    seed: Annotated[int, Meta(ge=0, le=2**53)] | None = None


class ChangeSettings(Body):
    """Settings to change in a running tournament, and the reason."""

    baseline: Name | UnsetType | None = UNSET  # null: the first ranker
    external_baseline: bool | UnsetType = UNSET
    share: Share | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    after_decision: AfterDecision | UnsetType = UNSET
    daily_cap: Cap | UnsetType | None = UNSET
    in_flight_cap: Cap | UnsetType | None = UNSET
    guardrails: Annotated[list[dict[str, Any]], Meta(max_length=100)] | UnsetType = UNSET
    attribution: AttributionIn | UnsetType | None = UNSET
    reason: ReasonText = ""


class Reason(Body):
    """The reason for a change. The journal records it with the name of your API key."""

    reason: ReasonText = ""


class RollOut(Body):
    """The share of all traffic that sees a ranker. Without `ranker`, it is the winner, or the one rolled out before."""

    share: RolloutShare = DEFAULT_ROLLOUT_SHARE
    ranker: Name | None = None
    reason: ReasonText = ""


class EraseClient(Body):
    """The client whose data is removed. It is not logged, and the journal does not name it."""

    client_id: Name
    reason: ReasonText = ""


class AddRankers(Body):
    """Rankers to add to a tournament."""

    rankers: MoreRankers
    reason: ReasonText = ""


# Traffic


class Query(Body):
    """One search. The same `query_id` always gets the same duel."""

    query_id: Name | None = None
    client_id: Name | None = None


class Ask(Body):
    """Ask for one duel, for `n` duels, or for one duel per entry of `queries`."""

    query_id: Name | None = None
    client_id: Name | None = None
    n: Annotated[int, Meta(ge=1, le=MAX_ITEMS_PER_BATCH)] | None = None
    queries: Annotated[list[Query], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)] | None = None


class Tell(Body):
    """The outcome of a duel. Send `ticket` or `duel`. Send `outcome`, or `clicks` with the page `shown`."""

    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None
    outcome: OutcomeIn | None = None
    clicks: Annotated[list[DocumentId], Meta(max_length=1000)] | None = None
    shown: dict[str, Any] | None = None  # the page as returned by `Interleaved.to_dict`


Tells = Annotated[list[Tell], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)]


class Show(Body):
    """The page that a user saw for a duel. Send `ticket` or `duel`. Later clicks on the page count for the duel."""

    shown: dict[str, Any]  # the page as returned by `Interleaved.to_dict`
    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None


Shows = Annotated[list[Show], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)]
