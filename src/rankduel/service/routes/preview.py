"""Preview of a change: what users would see after it. Nothing is changed."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rankduel.live.rules.lifecycle import AFTER_DECISION
from rankduel.live.rules.validation import check_name
from rankduel.live.settings import checked_dials
from rankduel.service.http.request_schemas import Body
from rankduel.service.http.routing import Request, Route, sent_fields
from rankduel.service.http.schema_types import Name, Share

__all__ = ["ROUTES"]


class Preview(Body):
    """A roll-out, or new values of the settings that decide what users see."""

    action: Literal["roll_out", "configure"]
    share: Share | UnsetType = UNSET
    ranker: Name | None = None  # to roll out; null: the winner
    baseline: Name | UnsetType = UNSET
    external_baseline: bool | UnsetType = UNSET
    shadow: bool | UnsetType = UNSET
    after_decision: Literal[AFTER_DECISION] | UnsetType = UNSET  # type: ignore[valid-type]


class Previewed(Struct):
    """What users would see after a change."""

    users_see: str


async def preview(request: Request) -> Previewed:
    """Preview a roll-out or new settings: what users would see. Nothing is changed."""
    t, body = await request.service.tournament(request.path["name"]), request.body
    given = checked_dials(sent_fields(body, "action", "ranker"))
    if body.ranker is not None:
        check_name("ranker", body.ranker)
    if body.action == "roll_out":
        return Previewed(t.after_roll_out(given.get("share", 1.0), body.ranker))
    return Previewed(t.after_changes(**given))


ROUTES = (
    Route(
        "POST",
        "/v1/tournaments/{name}:preview",
        "admin",
        preview,
        Previewed,
        Preview,
        problems=("unknown-tournament",),
    ),
)
