"""Decode and validate responses of the service. An unexpected response raises `StorageError`."""

from functools import lru_cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rankduel.client.wire import duel_from
from rankduel.errors import StorageError
from rankduel.live import Counts, DuelRow, LiveDuel, Receipt, Status
from rankduel.live.results import Health
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import numbers_of
from rankduel.live.rules.validation import brief, number
from rankduel.live.settings import Settings
from rankduel.types import Outcome

__all__ = [
    "attribution_in",
    "counts_in",
    "duel_in",
    "field",
    "health_in",
    "lines",
    "next_in",
    "receipt_in",
    "row_in",
    "settings_in",
    "status_in",
    "value_in",
    "words",
]

_MAX_MESSAGE_CHARACTERS = 1_000  # of an error message that the service sent
_ADVICE = "check that client and service run the same version of rankduel"
T = TypeVar("T")


def field(answer: Any, name: str, kind: Any = Any) -> Any:
    """Return a field of a response, converted to the type `kind`.

    >>> field({"seen": [1, 2]}, "seen", tuple[int, ...])
    (1, 2)
    >>> field({"seen": [1, "2"]}, "seen", tuple[int, ...])
    Traceback (most recent call last):
    rankduel.errors.StorageError: unexpected response: 'seen' is [1, '2']; check that client and service run the same
    version of rankduel
    """
    if not isinstance(answer, dict) or name not in answer:
        raise StorageError(f"unexpected response: field {name!r} is missing; {_ADVICE}")
    try:
        return _read(kind, answer[name])
    except (ValueError, RecursionError):
        shown = brief(answer[name])
    raise StorageError(f"unexpected response: {name!r} is {shown}; {_ADVICE}")


def lines(answer: Any, name: str, count: int | None = None) -> list[Any]:
    """Return a field that is a list, of length `count` unless that is None."""
    items = field(answer, name)
    if not isinstance(items, list):
        raise StorageError(f"unexpected response: {name!r} must be a list, got {brief(items)}; {_ADVICE}")
    if count is not None and len(items) != count:
        raise StorageError(f"unexpected response: {name!r} must have {count} items, got {len(items)}; {_ADVICE}")
    return items


def next_in(answer: Any, name: str, kind: Any) -> Any:
    """Return where the next page of `name` begins, or None after the last page.

    An empty page that is not the last one is an error, so that a faulty service cannot cause an endless loop.
    """
    following = field(answer, "next", kind | None)
    if following is not None and not lines(answer, name):
        raise StorageError(f"unexpected response: an empty page of {name!r} that is not the last one; {_ADVICE}")
    return following


def value_in(kind: type[T], answer: Any, **known: Any) -> T:
    """Make a dataclass or named tuple from the fields of a response. Values in `known` take precedence.

    Other fields of the response are ignored.
    """
    hints = _hints(kind)  # type: ignore[arg-type] # mypy does not know that a type is hashable
    return kind(**known, **{name: field(answer, name, hints[name]) for name in hints if name not in known})


def counts_in(answer: Any) -> Counts:
    """Return the counts of duels by state."""
    return Counts(**{name: field(answer, name, int) for name in Counts.__slots__})


def health_in(answer: Any) -> Health:
    """Return the health of a tournament."""
    return value_in(Health, answer, counts=counts_in(field(answer, "duels")))


def settings_in(answer: Any, rankers: Any) -> Settings:
    """Return the settings of a tournament. The service does not send seed and salt: here they are -1 and ""."""
    return value_in(Settings, field(answer, "settings"), rankers=_rankers(rankers), seed=-1, salt="")


def attribution_in(settings: Settings) -> Attribution:
    """Return the attribution rules in the settings of a response."""
    try:
        return Attribution.from_dict(settings.attribution or {})
    except (TypeError, ValueError) as error:
        raise StorageError(f"unexpected response: invalid attribution: {error}; {_ADVICE}") from None


def duel_in(answer: Any) -> LiveDuel:
    """Return a duel."""
    try:
        return duel_from(answer)
    except ValueError as error:
        raise StorageError(f"unexpected response: {error}; {_ADVICE}") from None


def receipt_in(answer: Any) -> Receipt:
    """Return the receipt of a tell."""
    outcome = field(answer, "outcome", str | None)
    try:
        return Receipt(status_in(field(answer, "status")), None if outcome is None else Outcome(outcome))
    except ValueError:
        raise StorageError(f"unexpected response: unknown outcome {brief(outcome)}; {_ADVICE}") from None


def status_in(answer: Any) -> Status:
    """Return the status of a tell, a shown page or a signal."""
    try:
        return Status(answer)
    except ValueError:
        raise StorageError(f"unexpected response: unknown status {brief(answer)}; {_ADVICE}") from None


def row_in(answer: Any, arms: dict[str, int]) -> DuelRow:
    """Return a row of the table of duels, as operators see it."""
    id = field(answer, "duel", str)
    names = [field(answer, side, str) for side in ("first", "second")]
    numbers = numbers_of(id)
    if numbers is None or not all(name in arms for name in names):
        raise StorageError(f"unexpected response: duel {brief(id)} of rankers {brief(names)}; {_ADVICE}")
    return value_in(
        DuelRow,
        answer,
        session=numbers[0],
        number=numbers[1],
        query=field(answer, "query_id", str | None),
        client=None,
        first=arms[names[0]],
        second=arms[names[1]],
        first_propensity=None,
        second_propensity=None,
        page=None,
    )


def words(message: Any) -> str:
    r"""Format a message of the service for an exception: on one line, and cut to 1,000 characters.

    >>> words("no such ranker"), words("a\nb"), words(["x"])
    ('no such ranker', "'a\\nb'", "['x']")
    """
    if not isinstance(message, str):
        return brief(message)
    return message[:_MAX_MESSAGE_CHARACTERS] if message.isprintable() else repr(message[:_MAX_MESSAGE_CHARACTERS])


@lru_cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, value: Any) -> Any:
    """Convert a JSON value to a type. Raise ValueError if it does not fit."""
    if kind is Any:
        return value
    inner = get_args(kind)
    if NoneType in inner:
        return None if value is None else _read(inner[0], value)
    origin = get_origin(kind) or kind
    if origin is float:
        return number("it", value, at_least=-1e300)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(inner[0], each) for each in value)
    if origin is dict and isinstance(value, dict):
        keys = value if inner[0] is str else map(int, value)
        return {_read(inner[0], key): _read(inner[1], each) for key, each in zip(keys, value.values(), strict=True)}
    if type(value) is not origin or (origin is int and abs(value) >= 2**63):
        raise ValueError
    if origin is str:
        value.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError: it could not be printed
    return value


def _rankers(created: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = field(field(created, "body"), "rankers", tuple[str, ...])
    return names
