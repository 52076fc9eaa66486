"""Schemas of request bodies. They are strict: an unknown field is an error."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from rankduel.service.http.schema_types import (
    MAX_ITEMS_PER_BATCH,
    Cap,
    DocumentId,
    MoreRankers,
    Name,
    Options,
    OutcomeIn,
    Rankers,
    ReasonText,
    Share,
)

__all__ = [
    "AddRankers",
    "Ask",
    "ChangeSettings",
    "CreateTournament",
    "Query",
    "Reason",
    "Show",
    "Shows",
    "Tell",
    "Tells",
]


class Body(Struct, forbid_unknown_fields=True):
    """A request body: unknown fields are an error."""


# Operators


class CreateTournament(Body):
    """A new tournament. Fields that you leave out have the defaults of `rankduel.Tournament.create`."""

    name: Name
    rankers: Rankers
    bandit: Annotated[str, Meta(max_length=1000, examples=["CertifiedSparring(delta=0.01)"])] | None = None
    parameters: Options = {}  # of the bandit, by name
    delta: Annotated[float, Meta(gt=0, le=0.5)] | None = None  # of the default bandit
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


class ChangeSettings(Body):
    """Settings to change while the tournament runs, and the reason."""

    baseline: Name | UnsetType | None = UNSET
    share: Share | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    daily_cap: Cap | UnsetType | None = UNSET
    in_flight_cap: Cap | UnsetType | None = UNSET
    guardrails: Annotated[list[dict[str, Any]], Meta(max_length=100)] | UnsetType = UNSET
    attribution: dict[str, Any] | UnsetType | None = UNSET
    reason: ReasonText = ""


class Reason(Body):
    """The reason for a change: it goes into the journal, with the name of the key."""

    reason: ReasonText = ""


class AddRankers(Body):
    """Rankers to add to a tournament."""

    rankers: MoreRankers
    reason: ReasonText = ""


# Traffic


class Query(Body):
    """One search: the same `query_id` gets the same duel."""

    query_id: Name | None = None
    client_id: Name | None = None


class Ask(Body):
    """One search; or `n` duels at once; or one duel for each of `queries`."""

    query_id: Name | None = None
    client_id: Name | None = None
    n: Annotated[int, Meta(ge=1, le=MAX_ITEMS_PER_BATCH)] | None = None
    queries: Annotated[list[Query], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)] | None = None


class Tell(Body):
    """The outcome of a duel: `ticket` or `duel`, and `outcome`, or `clicks` on the page that was `shown`."""

    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None
    outcome: OutcomeIn | None = None
    clicks: Annotated[list[DocumentId], Meta(max_length=1000)] | None = None
    shown: dict[str, Any] | None = None  # the page, as `Interleaved.to_dict` returns it


Tells = Annotated[list[Tell], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)]


class Show(Body):
    """The page that a user saw for a duel (`ticket` or `duel`): clicks on it can be attributed."""

    shown: dict[str, Any]  # as `Interleaved.to_dict` returns it
    ticket: Annotated[str, Meta(max_length=2000)] | None = None
    duel: Annotated[str, Meta(max_length=200)] | None = None


Shows = Annotated[list[Show], Meta(min_length=1, max_length=MAX_ITEMS_PER_BATCH)]
