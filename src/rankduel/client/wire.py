"""Encode request bodies and decode duels, with validation."""

import json
from collections.abc import Mapping
from functools import lru_cache
from time import time
from typing import Any
from urllib.parse import quote

from rankduel.interleaving import Interleaved, Interleaving, interleaving_from
from rankduel.live import LiveDuel
from rankduel.live.rules.duels import numbers_of
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.validation import brief, check_name, number
from rankduel.types import Outcome

__all__ = [
    "MAX_ITEM_BYTES",
    "duel_from",
    "encoded",
    "event_of",
    "item_text",
    "method_of",
    "name_of",
    "page_of",
    "path_of",
    "query_of",
    "show_of",
    "tell_of",
]

MAX_ITEM_BYTES = 256 * 1024  # of a tell, a page or an event
_MAX_TICKET_CHARACTERS = 2_000
_SERVES = ("duel", "baseline", "winner")
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encoded(body: object) -> bytes:
    """Encode a request body as JSON."""
    return _encode(body).encode()


def item_text(item: object) -> bytes:
    """Encode an item of a batch as JSON. Raise ValueError if it is too large."""
    text = encoded(item)
    if len(text) > MAX_ITEM_BYTES:
        raise ValueError(f"an item must have at most {MAX_ITEM_BYTES} bytes as JSON, got {len(text)}")
    return text


def path_of(tournament: str, *more: str) -> str:
    """Return the URL path of a tournament, or of something in it. Names are percent-encoded.

    >>> path_of("home/search", "ask")
    '/v1/tournaments/home%2Fsearch/ask'
    """
    return "/".join(["/v1/tournaments", *(quote(part, safe="") for part in (tournament, *more))])


def query_of(query_id: str | None, client_id: str | None) -> dict[str, str]:
    """Return the body of an ask."""
    body = {}
    if query_id is not None:
        body["query_id"] = check_name("query_id", query_id)
    if client_id is not None:
        body["client_id"] = check_name("client_id", client_id)
    return body


def duel_from(answer: Any) -> LiveDuel:
    """Decode a duel that the service sent. Raise ValueError if it is invalid.

    >>> duel_from({"duel": None, "first": "bm25"})
    Traceback (most recent call last):
    ValueError: invalid duel: field 'second' is missing
    """
    if not isinstance(answer, Mapping):
        raise ValueError(f"invalid duel: expected an object, got {brief(answer)}")
    try:
        duel = LiveDuel(
            id=_id(answer["duel"]),
            first=check_name("first", answer["first"]),
            second=check_name("second", answer["second"]),
            seed=_seed(answer["seed"]),
            expires=number("expires", answer["expires"]),
            serve=check_name("serve", answer["serve"]),
            why=None if answer["why"] is None else check_name("why", answer["why"]),
            method=method_of(check_name("interleaving", answer["interleaving"])),
            _ticket=_ticket(answer["ticket"]),
        )
    except KeyError as error:
        raise ValueError(f"invalid duel: field {error} is missing") from None
    except ValueError as error:
        raise ValueError(f"invalid duel: {error}") from None
    if duel.serve not in _SERVES:
        raise ValueError(f"invalid duel: serve must be one of {', '.join(_SERVES)}, got {brief(duel.serve)}")
    return duel


@lru_cache(maxsize=64)
def method_of(spec: str) -> Interleaving:
    """Return the interleaving method of a spec, cached."""
    return interleaving_from(spec)


def name_of(duel: LiveDuel | str) -> dict[str, str] | None:
    """Return the fields that identify a duel in a request: its ticket or its id. None if there is no duel.

    >>> name_of("3-17")
    {'duel': '3-17'}
    """
    if isinstance(duel, LiveDuel):
        if duel.id is None:
            return None
        return {"duel": duel.id} if duel.ticket is None else {"ticket": duel.ticket}
    if not isinstance(duel, str):
        raise TypeError(f"duel must be what ask() returned, its id or its ticket, got {brief(duel)}")
    session, dash, number = duel.partition("-")
    known = dash and session.isdecimal() and number.isdecimal()
    return {"duel": duel} if known else {"ticket": duel}


def tell_of(duel: LiveDuel | str, result: Outcome | Clicks) -> dict[str, Any] | None:
    """Return the body of a tell; None if there is no duel."""
    named = name_of(duel)
    if isinstance(result, Clicks):
        page = page_of(result.shown)
        return None if named is None else {**named, "clicks": list(result.clicks), "shown": page}
    if not isinstance(result, Outcome):
        raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(result)}")
    return None if named is None else {**named, "outcome": result.value}


def show_of(duel: LiveDuel | str, page: Interleaved | None) -> dict[str, Any] | None:
    """Return the body that reports a shown page; None if there is no duel."""
    if page is None and isinstance(duel, LiveDuel):
        page = duel.shown
    named = name_of(duel)
    if page is None and named is not None:
        raise ValueError("no page given; call duel.interleave() first, or pass page=")
    return None if named is None or page is None else {**named, "shown": page_of(page)}


def page_of(page: Interleaved) -> dict[str, Any]:
    """Return a shown page as JSON values."""
    if not isinstance(page, Interleaved):
        raise TypeError(f"a page must be what duel.interleave() returned, got {brief(page)}")
    return page.to_dict()


def event_of(seen: Signal | Shown) -> dict[str, Any]:
    """Return a signal or a shown page as a UBI event (User Behavior Insights).

    >>> event_of(Signal("q-81", "click", "d4", position=2, time=1_800_000_000.0, dwell=None, key="e-1"))["timestamp"]
    1800000000000
    """
    if isinstance(seen, Shown):
        attributes: dict[str, Any] = {"shown": page_of(seen.page)}
        return _event(seen.query_id, "impression", time(), attributes)
    if not isinstance(seen, Signal):
        raise TypeError(f"seen must contain only Signal and Shown, got {brief(seen)}")
    attributes = {}
    if seen.object is not None:
        attributes["object"] = {"object_id": seen.object}
    if seen.position is not None:
        attributes["position"] = {"ordinal": seen.position}
    if seen.dwell is not None:
        attributes["dwell"] = seen.dwell
    event = _event(seen.query_id, seen.action, seen.time, attributes)
    return event | {"event_id": check_name("key", seen.key)} if seen.key else event


def _event(query_id: str, action: str, seconds: float, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "query_id": check_name("query_id", query_id),
        "action_name": check_name("action", action),
        "timestamp": round(1000 * seconds),
        "event_attributes": attributes,
    }


def _id(value: object) -> str | None:
    if value is not None and numbers_of(check_name("duel", value)) is None:
        raise ValueError(f"duel must be an id such as 3-17, got {brief(value)}")
    return value  # type: ignore[return-value] # a name is a string


def _ticket(value: object) -> str | None:
    return None if value is None else check_name("ticket", value, _MAX_TICKET_CHARACTERS)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError(f"seed must be an integer from 0 to 2**64 - 1, got {brief(value)}")
    return value
