"""What goes over the wire and what comes back, as values: checked on both sides."""

import json
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from time import time
from typing import Any
from urllib.parse import quote

from rankduel.interleaving import Interleaved, Interleaving, interleaving_from
from rankduel.live import LiveDuel
from rankduel.live.rules.duels import numbers_of
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.validation import brief, name, number
from rankduel.types import Outcome

__all__ = [
    "checked",
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

_LONGEST = 200  # characters of a name or an id
_LONGEST_TICKET = 2000  # characters
_SERVES = ("duel", "baseline", "winner")
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encoded(body: object) -> bytes:
    """A body, as JSON."""
    return _encode(body).encode()


def checked(what: str, value: object) -> str:
    """A name or an id: 1 to 200 printable characters."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {value!r:.{_LONGEST}}")
    if not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise ValueError(f"{what} must be 1 to {_LONGEST} printable characters, got {value!r:.{_LONGEST}}")
    return value


def path_of(tournament: str, *more: str) -> str:
    """The address of a tournament, or of something in it; a name may have any character.

    >>> path_of("home/search", "ask")
    '/v1/tournaments/home%2Fsearch/ask'
    """
    return "/".join(["/v1/tournaments", *(quote(part, safe="") for part in (tournament, *more))])


def query_of(query_id: str | None, client_id: str | None) -> dict[str, str]:
    """Who searches, as the service takes it."""
    asked = {}
    if query_id is not None:
        asked["query_id"] = checked("query_id", query_id)
    if client_id is not None:
        asked["client_id"] = checked("client_id", client_id)
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
            first=name("first", answer["first"]),
            second=name("second", answer["second"]),
            seed=_seed(answer["seed"]),
            expires=number("expires", answer["expires"]),
            serve=name("serve", answer["serve"]),
            why=None if answer["why"] is None else name("why", answer["why"]),
            method=method_of(name("interleaving", answer["interleaving"])),
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
    """How two lists become a page."""
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
        raise TypeError(f"duel must be what ask() has returned, its id or its ticket, got {duel!r:.{_LONGEST}}")
    session, dash, number = duel.partition("-")
    known = dash and session.isdecimal() and number.isdecimal()
    return {"duel": duel} if known else {"ticket": duel}


def tell_of(
    duel: LiveDuel | str,
    outcome: Outcome | None,
    clicks: Iterable[Hashable] | None,
    shown: Interleaved | None,
) -> dict[str, Any] | None:
    """What is told of a duel, as the service takes it; None if there is no duel."""
    told: dict[str, Any] | None = name_of(duel)
    if clicks is not None:
        if outcome is not None:
            raise ValueError("tell either the outcome or the clicks, not both")
        if isinstance(clicks, str | bytes | Mapping) or not isinstance(clicks, Iterable):
            raise TypeError(f"clicks must be a list of documents, got {clicks!r:.{_LONGEST}}")
        if shown is None and isinstance(duel, LiveDuel):
            shown = duel.shown
        if told is not None:
            told["clicks"] = list(clicks)
            if shown is not None:
                told["shown"] = page_of(shown)
    elif not isinstance(outcome, Outcome):
        raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r:.{_LONGEST}}")
    elif told is not None:
        told["outcome"] = outcome.value
    return told


def show_of(duel: LiveDuel | str, page: Interleaved | None) -> dict[str, Any] | None:
    """The page of a duel, as the service takes it; None if there is no duel."""
    if page is None and isinstance(duel, LiveDuel):
        page = duel.shown
    named = name_of(duel)
    if named is None:
        return None
    if page is None:
        raise ValueError("which page was shown? call duel.interleave first, or hand it over as page=")
    return {**named, "shown": page_of(page)}


def page_of(page: Interleaved) -> dict[str, Any]:
    """A page that was shown."""
    if not isinstance(page, Interleaved):
        raise TypeError(f"a page is what duel.interleave() has returned, got {page!r:.{_LONGEST}}")
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
        raise TypeError(f"what was seen is a Signal or Shown, got {seen!r:.{_LONGEST}}")
    attributes = {}
    if seen.object is not None:
        attributes["object"] = {"object_id": seen.object}
    if seen.position is not None:
        attributes["position"] = {"ordinal": seen.position}
    if seen.dwell is not None:
        attributes["dwell"] = seen.dwell
    event = _event(seen.query_id, seen.action, seen.time, attributes)
    return event | {"event_id": checked("key", seen.key)} if seen.key else event


def _event(query_id: str, action: str, seconds: float, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "query_id": checked("query_id", query_id),
        "action_name": checked("action", action),
        "timestamp": round(1000 * seconds),
        "event_attributes": attributes,
    }


def _id(value: object) -> str | None:
    if value is not None and numbers_of(name("duel", value)) is None:
        raise ValueError(f"{brief(value)} is not the id of a duel")
    return value  # type: ignore[return-value] # a name is a string


def _ticket(value: object) -> str | None:
    return None if value is None else name("ticket", value, _LONGEST_TICKET)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError(f"{brief(value)} is not a seed")
    return value
