"""UBI events for tests."""

import time
from typing import Any


def event(query: str, action: str = "click", object: str | None = None, **more: Any) -> dict[str, Any]:
    """An event with fields that must not be stored."""
    attributes = {} if object is None else {"object": {"object_id": object}, "position": {"ordinal": 1}}
    return {
        "query_id": query,
        "action_name": action,
        "timestamp": round(time.time() * 1000),
        "event_attributes": attributes | more,
        "client_id": "not kept",
        "message": "not kept either",
    }
