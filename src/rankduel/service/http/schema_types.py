"""Field types shared by request and response schemas, with the limits that the OpenAPI document states."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from rankduel.live.rules.attribution import MAX_ACTIONS, RULES
from rankduel.live.rules.lifecycle import STATUSES
from rankduel.live.rules.ubi import MAX_OBJECT_ID_CHARACTERS
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.live.settings import MAX_RANKERS, MIN_RANKERS

__all__ = [
    "MAX_ITEMS_PER_BATCH",
    "NAME_PATTERN",
    "PRINTABLE",
    "AfterDecision",
    "AttributionIn",
    "Cap",
    "DocumentId",
    "MoreRankers",
    "Name",
    "Options",
    "OutcomeIn",
    "OutcomeOut",
    "Rankers",
    "ReasonText",
    "RolloutShare",
    "Serve",
    "Share",
    "State",
    "TellStatus",
]

MAX_ITEMS_PER_BATCH = 1_000

PRINTABLE = (
    "Printable characters: no control, format, private-use or unassigned ones, and no separator except the space."
)
NAME_PATTERN = "^[^\\x00-\\x1f\\x7f-\\xa0\\xad]+$"  # a pattern cannot state everything; the description is complete
_PATTERN = {"pattern": NAME_PATTERN}
Name = Annotated[
    str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS, description=PRINTABLE, extra_json_schema=_PATTERN)
]
_PLAIN_VALUES = {"additionalProperties": {"type": ["number", "string", "null"]}}
Options = Annotated[dict[str, Any], Meta(extra_json_schema=_PLAIN_VALUES)]
Share = Annotated[float, Meta(ge=0, le=1)]
RolloutShare = Annotated[float, Meta(gt=0, le=1)]
AfterDecision = Literal["winner", "baseline", "compare"]
Cap = Annotated[int, Meta(ge=0, le=2**53)]
ReasonText = Annotated[str, Meta(max_length=1000)]
Rankers = Annotated[list[Name], Meta(min_length=MIN_RANKERS, max_length=MAX_RANKERS)]
_IN_TOTAL = f"A tournament has at most {MAX_RANKERS:,} rankers in total."
MoreRankers = Annotated[list[Name], Meta(min_length=1, max_length=MAX_RANKERS - MIN_RANKERS, description=_IN_TOTAL)]
_WEIGHTS = {
    "type": "object",
    "description": f"Weights by action. A tournament declares at most {MAX_ACTIONS} actions.",
    "minProperties": 1,
    "maxProperties": MAX_ACTIONS,
    "propertyNames": {"minLength": 1, "maxLength": MAX_NAME_CHARACTERS},
    "additionalProperties": {"type": "number", "minimum": 0, "exclusiveMaximum": 1e9},
}
_ATTRIBUTION = {
    "properties": {
        "actions": _WEIGHTS,
        "window": {"type": "number", "exclusiveMinimum": 0},
        "dwell": {"type": "number", "minimum": 0},
        "tie": {"enum": list(RULES)},
        "no_click": {"enum": list(RULES)},
        "version": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}
AttributionIn = Annotated[
    dict[str, Any],
    Meta(
        description=f"Rules from signals to an outcome, with at most {MAX_ACTIONS} `actions`.",
        extra_json_schema=_ATTRIBUTION,
    ),
]
OutcomeIn = Literal["first", "second", "tie"]
OutcomeOut = Annotated[str, Meta(extra_json_schema={"enum": ["first", "second", "tie"]})]
TellStatus = Annotated[str, Meta(extra_json_schema={"enum": ["accepted", "duplicate", "conflict", "late", "unknown"]})]
Serve = Annotated[str, Meta(extra_json_schema={"enum": ["duel", "baseline", "winner"]})]
State = Annotated[str, Meta(extra_json_schema={"enum": list(STATUSES)})]
_Int64 = Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)]
DocumentId = Annotated[str, Meta(min_length=1, max_length=MAX_OBJECT_ID_CHARACTERS, description=PRINTABLE)] | _Int64
