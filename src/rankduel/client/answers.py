"""Read the responses of a service: each value is checked, and a response of another shape is a `StorageError`."""

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

_MAX_MESSAGE_CHARACTERS = 1_000  # of an error of the service
T = TypeVar("T")


def field(answer: Any, name: str, kind: Any = Any) -> Any:
    """A field of an answer, as a value of type `kind`.

    >>> field({"seen": [1, 2]}, "seen", tuple[int, ...])
    (1, 2)
    >>> field({"seen": [1, "2"]}, "seen", tuple[int, ...])
    Traceback (most recent call last):
    rankduel.errors.StorageError: 'seen' is [1, '2'] in the answer of the service: is it another version?
    """
    if not isinstance(answer, dict) or name not in answer:
        raise StorageError(f"the answer of the service has no {name!r}: is it another version?")
    try:
        return _read(kind, answer[name])
    except (ValueError, RecursionError):
        shown = brief(answer[name])
    raise StorageError(f"{name!r} is {shown} in the answer of the service: is it another version?")


def lines(answer: Any, name: str, count: int | None = None) -> list[Any]:
    """A field that is a list, of `count` items if that is known."""
    found = field(answer, name)
    if not isinstance(found, list):
        raise StorageError(f"{name!r} is not a list in the answer of the service")
    if count is not None and len(found) != count:
        raise StorageError(f"the service has answered {len(found)} of {count} {name}")
    return found


def next_in(answer: Any, name: str, kind: Any) -> Any:
    """Where the next page of `name` begins, None at the end. Empty pages without end would never get there."""
    following = field(answer, "next", kind | None)
    if following is not None and not lines(answer, name):
        raise StorageError(f"a page of the service has no {name}, and is not the last one")
    return following


def value_in(kind: type[T], answer: Any, **known: Any) -> T:
    """A dataclass or named tuple from the fields of an answer, which may have more; `known` are not taken from it."""
    hints = _hints(kind)  # type: ignore[arg-type] # mypy does not know that a type is hashable
    return kind(**known, **{name: field(answer, name, hints[name]) for name in hints if name not in known})


def counts_in(answer: Any) -> Counts:
    """How many duels there are, by what became of them."""
    return Counts(**{name: field(answer, name, int) for name in Counts.__slots__})


def health_in(answer: Any) -> Health:
    """Whether all is well."""
    return value_in(Health, answer, counts=counts_in(field(answer, "duels")))


def settings_in(answer: Any, rankers: Any) -> Settings:
    """The settings of a tournament. Seed and salt stay with the service: here they are -1 and empty."""
    return value_in(Settings, field(answer, "settings"), rankers=_rankers(rankers), seed=-1, salt="")


def attribution_in(settings: Settings) -> Attribution:
    """How signals become outcomes, from the settings of an answer."""
    try:
        return Attribution.from_dict(settings.attribution or {})
    except (TypeError, ValueError) as error:
        raise StorageError(f"the attribution in the answer of the service is none: {error}") from None


def duel_in(answer: Any) -> LiveDuel:
    """A duel."""
    try:
        return duel_from(answer)
    except ValueError as error:
        raise StorageError(f"the answer of the service is {error}") from None


def receipt_in(answer: Any) -> Receipt:
    """The receipt of a tell."""
    outcome = field(answer, "outcome", str | None)
    try:
        return Receipt(status_in(field(answer, "status")), None if outcome is None else Outcome(outcome))
    except ValueError:
        raise StorageError(f"the service knows an outcome {brief(outcome)}: is it another version?") from None


def status_in(answer: Any) -> Status:
    """What became of something that was told."""
    try:
        return Status(answer)
    except ValueError:
        raise StorageError(f"the service knows a status {brief(answer)}: is it another version?") from None


def row_in(answer: Any, arms: dict[str, int]) -> DuelRow:
    """All that an operator may know of a duel."""
    id = field(answer, "duel", str)
    names = [field(answer, side, str) for side in ("first", "second")]
    numbers = numbers_of(id)
    if numbers is None or not all(name in arms for name in names):
        raise StorageError(f"the service has a duel {brief(id)} of {brief(names)}: is it another version?")
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
    r"""A message of the service for an error of ours: in one line, and not too long.

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
    """A value of a type, from JSON; ValueError if it is none."""
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
        value.encode()  # UnicodeEncodeError, a ValueError, for half a character, which nobody could print
    return value


def _rankers(created: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = field(field(created, "body"), "rankers", tuple[str, ...])
    return names
