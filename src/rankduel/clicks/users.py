"""Standard click models of the literature, by name: click and stop probabilities for 2, 3 or 5 grades."""

from collections.abc import Callable

from rankduel.clicks.base import ClickModel
from rankduel.clicks.cascade import CascadeModel
from rankduel.clicks.position_based import PositionBased, RandomUser
from rankduel.spec import parse

__all__ = ["CLICKS", "almost_random", "clicks_from", "informational", "navigational", "perfect", "random"]

Table = tuple[list[float], list[float]]  # click and stop probabilities, by grade

# Hofmann et al. 2013 for 2 and 3 grades, Oosterhuis and de Rijke 2017 for 5.
PERFECT: dict[int, Table] = {
    2: ([0, 1], [0, 0]),
    3: ([0, 0.5, 1], [0, 0, 0]),
    5: ([0, 0.2, 0.4, 0.8, 1], [0, 0, 0, 0, 0]),
}
NAVIGATIONAL: dict[int, Table] = {
    2: ([0.05, 0.95], [0.2, 0.9]),
    3: ([0.05, 0.5, 0.95], [0.2, 0.5, 0.9]),
    5: ([0.05, 0.3, 0.5, 0.7, 0.95], [0.2, 0.3, 0.5, 0.7, 0.9]),
}
INFORMATIONAL: dict[int, Table] = {
    2: ([0.4, 0.9], [0.1, 0.5]),
    3: ([0.4, 0.7, 0.9], [0.1, 0.3, 0.5]),
    5: ([0.4, 0.6, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.4, 0.5]),
}
ALMOST_RANDOM: dict[int, Table] = {
    2: ([0.4, 0.6], [0.5, 0.5]),
    3: ([0.4, 0.5, 0.6], [0.5, 0.5, 0.5]),
    5: ([0.4, 0.45, 0.5, 0.55, 0.6], [0.5, 0.5, 0.5, 0.5, 0.5]),
}
RANDOM: dict[int, Table] = {n: ([0.5] * n, [0] * n) for n in (2, 3, 5)}


def _user(tables: dict[int, Table], grades: int, stops: str) -> CascadeModel:
    if isinstance(grades, bool) or grades not in tables:
        raise ValueError(f"grades must be 2, 3 or 5, got {grades!r}; for other grades, make a CascadeModel of your own")
    click, stop = tables[grades]
    return CascadeModel(click, stop, stops=stops)


def perfect(grades: int = 5, stops: str = "after_click") -> CascadeModel:
    """Reads the whole list. A better document is more likely to be clicked.

    >>> perfect(grades=3)
    CascadeModel(click=[0.0, 0.5, 1.0], stop=[0.0, 0.0, 0.0], stops='after_click')
    """
    return _user(PERFECT, grades, stops)


def navigational(grades: int = 5, stops: str = "after_click") -> CascadeModel:
    """Looks for one good document, and leaves after finding it.

    >>> round(navigational(grades=5).expected_clicks([4] * 10), 3)
    1.111
    """
    return _user(NAVIGATIONAL, grades, stops)


def informational(grades: int = 5, stops: str = "after_click") -> CascadeModel:
    """Collects many documents, and also clicks some that are not relevant.

    >>> round(informational(grades=5).expected_clicks([0] * 10), 3)
    3.352
    """
    return _user(INFORMATIONAL, grades, stops)


def almost_random(grades: int = 5, stops: str = "after_click") -> CascadeModel:
    """Clicks almost independently of relevance, and leaves after a click with probability 0.5.

    >>> almost_random(grades=2)
    CascadeModel(click=[0.4, 0.6], stop=[0.5, 0.5], stops='after_click')
    """
    return _user(ALMOST_RANDOM, grades, stops)


def random(grades: int = 5, stops: str = "after_click") -> CascadeModel:
    """Clicks every document with probability 0.5, and reads the whole list.

    >>> random(grades=2).expected_clicks([0, 1])
    1.0
    """
    return _user(RANDOM, grades, stops)


CLICKS: dict[str, Callable[..., CascadeModel]] = {
    "perfect": perfect,
    "navigational": navigational,
    "informational": informational,
    "almost_random": almost_random,
    "random": random,
}
MODELS: dict[str, Callable[..., ClickModel]] = {
    "CascadeModel": CascadeModel,
    "PositionBased": PositionBased,
    "RandomUser": RandomUser,
}


def clicks_from(spec: str, grades: int = 5) -> ClickModel:
    """Parse the spec of a click model: a name of `CLICKS`, or the `repr` of a model.

    `grades` is the number of grades of the documents.

    >>> clicks_from("navigational(stops='anywhere')", grades=2)
    CascadeModel(click=[0.05, 0.95], stop=[0.2, 0.9], stops='anywhere')
    >>> clicks_from("RandomUser(p=0.2)")
    RandomUser(p=0.2)
    """
    name, options = parse(spec)
    if name not in CLICKS and name not in MODELS:
        raise ValueError(f"unknown click model {name!r}; expected one of {', '.join([*CLICKS, *MODELS])}")
    try:
        user = CLICKS[name](**{"grades": grades, **options}) if name in CLICKS else MODELS[name](**options)
    except TypeError as error:
        raise ValueError(f"invalid click model {spec!r}: {error}") from None
    if user.n_grades < grades:
        raise ValueError(f"click model {spec!r} supports {user.n_grades} grades, expected at least {grades}")
    return user
