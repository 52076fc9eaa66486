"""UBI reader: turn events of User Behavior Insights 1.3 into signals and shown pages."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NoReturn

from rankduel.interleaving import INTERLEAVINGS, Interleaved
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.validation import brief, check_name, number, whole

__all__ = ["FIRST_TIME", "LAST_TIME", "MAX_OBJECT_ID_CHARACTERS", "MAX_EVENTS_PER_CALL", "read_events", "read_page"]

MAX_EVENTS_PER_CALL = 1_000
MAX_OBJECT_ID_CHARACTERS = 256  # the limit of UBI
_MAX_DOCUMENTS_PER_PAGE = 1_000
# Seconds since 1970: the years 2000 to 2099. This detects timestamps in seconds, which would be in 1970.
FIRST_TIME, LAST_TIME = 946_684_800, 4_102_444_800


def read_events(given: Mapping[str, Any] | Iterable[Any] | str | bytes) -> list[Signal | Shown | str]:
    """Read UBI events. Return a signal, a shown page or an error message for each event, in the same order.

    `given` is an event, a list of events, or text: JSON of either, or NDJSON (one event per line). The limit is 1,000
    events.

    | field | value |
    |---|---|
    | `query_id` | 1 to 200 printable characters |
    | `action_name` | the same |
    | `timestamp` | ISO 8601 (UTC unless it has a time zone), or milliseconds since 1970 |
    | `event_id` | optional, not in UBI: events with equal ids are duplicates; without ids, events with equal content |
    | `event_attributes.object.object_id` | optional: up to 256 printable characters, or a whole number |
    | `event_attributes.position.ordinal` | optional: a whole number |
    | `event_attributes.dwell` | optional, not in UBI: seconds |
    | `event_attributes.shown` | optional, not in UBI, for the action `impression`: result of `Interleaved.to_dict` |

    All other fields are ignored and never stored: client, session and user ids, messages, texts of queries.

    >>> click = {"query_id": "q-81", "action_name": "click", "timestamp": "2027-01-15T08:00:00Z",
    ...          "event_attributes": {"object": {"object_id": "d4"}, "position": {"ordinal": 2}}}
    >>> read_events([click, {"query_id": "q-82", "action_name": "click"}])
    [Signal(query_id='q-81', action='click', object='d4', position=2, time=1800000000.0, dwell=None,
    key='fb376e16e92f3eba3b7f9205dd3e8da7'),
    'event 2: timestamp must be ISO 8601 or milliseconds since 1970, got None']
    """
    results: list[Signal | Shown | str] = []
    for index, item in enumerate(_items(given), 1):
        if index > MAX_EVENTS_PER_CALL:
            raise ValueError(f"expected at most {MAX_EVENTS_PER_CALL:,} events, got more; split them into batches")
        try:
            results.append(_event(item))
        except (ValueError, TypeError) as error:
            results.append(f"event {index}: {error}")
    return results


def _items(given: Mapping[str, Any] | Iterable[Any] | str | bytes) -> Iterator[Any]:
    """Yield the events. Text that is not JSON becomes an exception in place of the event."""
    if isinstance(given, bytes):
        given = given.decode("utf-8", "surrogateescape")  # invalid UTF-8 becomes unprintable, so ids reject it
    if isinstance(given, str):
        given = given.removeprefix("\ufeff")
        whole_text = _json(given)
        if isinstance(whole_text, Exception):
            yield from (_json(line) for line in given.split("\n") if line.strip())
            return
        given = whole_text if isinstance(whole_text, list) else [whole_text]
    if isinstance(given, Mapping):
        yield given
    elif isinstance(given, Iterable):
        yield from given
    else:
        raise TypeError(f"events must be a dictionary, a list or text, got {brief(given)}")


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        return ValueError("expected an event, got JSON that is nested too deeply")
    except ValueError as error:
        return ValueError(f"expected an event as JSON, got {brief(text.strip())}: {error}")


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _event(item: Any) -> Signal | Shown:
    if isinstance(item, Exception):
        raise item
    event = _dictionary("an event", item)
    query_id = check_name("query_id", event.get("query_id"))
    action = check_name("action_name", event.get("action_name"))
    time = _time(event.get("timestamp"))
    attributes = _dictionary("event_attributes", event.get("event_attributes"))
    if action == "impression" and attributes.get("shown") is not None:
        return Shown(query_id, read_page(attributes["shown"]))
    document = _dictionary("object", attributes.get("object")).get("object_id")
    position = _dictionary("position", attributes.get("position")).get("ordinal")
    signal = Signal(
        query_id,
        action,
        None if document is None else str(_document("object_id", document)),
        None if position is None else whole("position.ordinal", position),
        time,
        None if attributes.get("dwell") is None else number("dwell", attributes["dwell"]),
        "",
    )
    own = event.get("event_id")
    content = signal[:-1] if own is None else [check_name("event_id", own)]
    return signal._replace(key=blake2b(json.dumps(content).encode(), digest_size=16).hexdigest())


def _dictionary(what: str, value: object) -> Mapping[str, Any]:
    """Return a dictionary; an empty one for a missing attribute."""
    if value is None and what != "an event":
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a dictionary, got {brief(value)}")
    return value


def _time(value: object) -> float:
    """Convert a timestamp to seconds since 1970."""
    seconds = math.nan
    if isinstance(value, str) and len(value) > len("2027-01-15"):
        try:
            time = datetime.fromisoformat(value)
            seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            pass
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        seconds = value / 1000
    if math.isnan(seconds):
        raise ValueError(f"timestamp must be ISO 8601 or milliseconds since 1970, got {brief(value)}")
    if not FIRST_TIME <= seconds < LAST_TIME:
        raise ValueError(f"timestamp must be in the years 2000 to 2099 (milliseconds, not seconds), got {brief(value)}")
    return seconds


def _document(what: str, value: object) -> str | int:
    """Check the id of a document. In UBI it may be an integer."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    return check_name(what, value, MAX_OBJECT_ID_CHARACTERS)


def read_page(stored: object) -> Interleaved:
    """Validate a page that a client sent. Keep only the fields that its interleaving method needs, and the lists."""
    page = _dictionary("shown", stored)
    method = page.get("method")
    if not isinstance(method, str) or method not in INTERLEAVINGS:
        raise ValueError(f"method of shown must be one of {', '.join(INTERLEAVINGS)}, got {brief(method)}")
    interleaving = INTERLEAVINGS[method]
    credit_field = interleaving.credit_field
    for field in ("documents", credit_field):
        value = page.get(field)
        if not isinstance(value, list | tuple) or not 0 < len(value) <= _MAX_DOCUMENTS_PER_PAGE:
            expected = f"a list of 1 to {_MAX_DOCUMENTS_PER_PAGE:,}"
            raise ValueError(f"{field} of shown must be {expected}, got {brief(value)}")
    documents = {str(_document("a document of shown", document)) for document in page["documents"]}
    if len(documents) < len(page["documents"]):
        raise ValueError("documents of shown must not have duplicates")
    for value in page[credit_field]:
        try:
            interleaving.check_credit_value(value)
        except ValueError as error:
            raise ValueError(f"{credit_field} of shown: {error}") from None
    fields = ["method", "documents", credit_field]
    if page.get("lists") is not None:
        _check_lists(page["lists"])
        fields.append("lists")
    return Interleaved.from_dict({field: page[field] for field in fields})


def _check_lists(lists: Any) -> None:
    """Check the top documents of both rankers. They are stored for inspection only."""
    if not isinstance(lists, list | tuple) or len(lists) != 2:
        raise ValueError(f"lists of shown must be two lists, of the first and the second ranker, got {brief(lists)}")
    for documents in lists:
        if not isinstance(documents, list | tuple) or len(documents) > _MAX_DOCUMENTS_PER_PAGE:
            expected = f"a list of up to {_MAX_DOCUMENTS_PER_PAGE:,}"
            raise ValueError(f"each of the lists of shown must be {expected}, got {brief(documents)}")
        for document in documents:
            _document("a document of the lists of shown", document)
