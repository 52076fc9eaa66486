"""Request bodies from values, and duels from responses; both are checked."""

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
    "duel_from",
    "encoded",
    "event_of",
    "method_of",
    "name_of",
    "page_of",
    "path_of",
    "query_of",
    "show_of",
    "tell_of",
]

_MAX_TICKET_CHARACTERS = 2_000
_SERVES = ("duel", "baseline", "winner")
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encoded(body: object) -> bytes:
    """A request body as JSON."""
    return _encode(body).encode()


def path_of(tournament: str, *more: str) -> str:
    """The path of a tournament, or of something in it; a name may have any character.

    >>> path_of("home/search", "ask")
    '/v1/tournaments/home%2Fsearch/ask'
    """
    return "/".join(["/v1/tournaments", *(quote(part, safe="") for part in (tournament, *more))])


def query_of(query_id: str | None, client_id: str | None) -> dict[str, str]:
    """An ask, as the service takes it."""
    asked = {}
    if query_id is not None:
        asked["query_id"] = check_name("query_id", query_id)
    if client_id is not None:
        asked["client_id"] = check_name("client_id", client_id)
    return asked


def duel_from(answer: Any) -> LiveDuel:
    """A duel of the service; ValueError if that is none.

    >>> duel_from({"duel": None, "first": "bm25"})
    Traceback (most recent call last):
    ValueError: not a duel: no 'second'
    """
    if not isinstance(answer, Mapping):
        raise ValueError("not a duel: not an object")
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
        raise ValueError(f"not a duel: no {error}") from None
    except ValueError as error:
        raise ValueError(f"not a duel: {error}") from None
    if duel.serve not in _SERVES:
        raise ValueError(f"not a duel: it says to serve {brief(duel.serve)}")
    return duel


@lru_cache(maxsize=64)
def method_of(spec: str) -> Interleaving:
    """The interleaving method of a duel, by its name and options."""
    return interleaving_from(spec)


def name_of(duel: LiveDuel | str) -> dict[str, str] | None:
    """How the service finds a duel: by its ticket, which vouches for it, or by its id. None: there is no duel.

    >>> name_of("3-17")
    {'duel': '3-17'}
    """
    if isinstance(duel, LiveDuel):
        if duel.id is None:
            return None
        return {"duel": duel.id} if duel.ticket is None else {"ticket": duel.ticket}
    if not isinstance(duel, str):
        raise TypeError(f"duel must be what ask() has returned, or its id or ticket, got {brief(duel)}")
    session, dash, number = duel.partition("-")
    known = dash and session.isdecimal() and number.isdecimal()
    return {"duel": duel} if known else {"ticket": duel}


def tell_of(duel: LiveDuel | str, told: Outcome | Clicks) -> dict[str, Any] | None:
    """A tell, as the service takes it; None if there is no duel."""
    named = name_of(duel)
    if isinstance(told, Clicks):
        page = page_of(told.shown)
        return None if named is None else {**named, "clicks": list(told.clicks), "shown": page}
    if not isinstance(told, Outcome):
        raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {brief(told)}")
    return None if named is None else {**named, "outcome": told.value}


def show_of(duel: LiveDuel | str, page: Interleaved | None) -> dict[str, Any] | None:
    """The page of a duel, as the service takes it; None if there is no duel."""
    if page is None and isinstance(duel, LiveDuel):
        page = duel.shown
    named = name_of(duel)
    if page is None and named is not None:
        raise ValueError("which page was shown? call duel.interleave first, or hand it over as page=")
    return None if named is None or page is None else {**named, "shown": page_of(page)}


def page_of(page: Interleaved) -> dict[str, Any]:
    """A page that was shown."""
    if not isinstance(page, Interleaved):
        raise TypeError(f"a page is what duel.interleave() has returned, got {brief(page)}")
    return page.to_dict()


def event_of(seen: Signal | Shown) -> dict[str, Any]:
    """What a user did or saw, as an event of User Behavior Insights.

    >>> event_of(Signal("q-81", "click", "d4", position=2, time=1_800_000_000.0, dwell=None, key="e-1"))["timestamp"]
    1800000000000
    """
    if isinstance(seen, Shown):
        attributes: dict[str, Any] = {"shown": page_of(seen.page)}
        return _event(seen.query_id, "impression", time(), attributes)
    if not isinstance(seen, Signal):
        raise TypeError(f"seen must be a list of Signal and Shown, got {brief(seen)} in it")
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
        raise ValueError(f"{brief(value)} is not the id of a duel")
    return value  # type: ignore[return-value] # a name is a string


def _ticket(value: object) -> str | None:
    return None if value is None else check_name("ticket", value, _MAX_TICKET_CHARACTERS)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError(f"{brief(value)} is not a seed")
    return value
