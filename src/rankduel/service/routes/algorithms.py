"""The bandits and interleaving methods that a new tournament can have, from the registries and their docstrings."""

import inspect
from functools import cache

from msgspec import Struct

from rankduel.bandits import REGISTRY
from rankduel.interleaving.registry import INTERLEAVINGS
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request, Route, encode
from rankduel.spec import parse

__all__ = ["ROUTES"]


class Option(Struct):
    """An option of a bandit or an interleaving method. `default` is null where the method chooses the value itself."""

    name: str
    default: float | str | None
    about: str


class Algorithm(Struct):
    """A bandit or an interleaving method."""

    name: str
    summary: str
    options: list[Option]


class Algorithms(Struct):
    """The bandits and interleaving methods of a new tournament. The recommended ones come first."""

    bandits: list[Algorithm]
    interleavings: list[Algorithm]


async def algorithms(request: Request) -> Response:
    """The bandits and interleaving methods that a new tournament can have, with their options and defaults."""
    return json_response(_algorithms())


@cache
def _algorithms() -> bytes:
    bandits = [_bandit(name) for name in REGISTRY]
    methods = sorted(map(_interleaving, INTERLEAVINGS), key=lambda method: method.name != "team_draft")
    return encode(Algorithms(bandits=bandits, interleavings=methods))


def _bandit(name: str) -> Algorithm:
    doc = inspect.getdoc(REGISTRY[name]) or ""
    about = _parameters(doc)
    given = REGISTRY[name](2, seed=0).parameters
    options = [Option(option, _plain(value), about.get(option, "")) for option, value in given.items()]
    return Algorithm(name, doc.partition("\n\n")[0].replace("\n", " "), options)


def _interleaving(name: str) -> Algorithm:
    method = INTERLEAVINGS[name]
    summary = (inspect.getdoc(method) or "").partition("\n\n")[0].replace("\n", " ")
    options = parse(repr(method()))[1]
    return Algorithm(name, summary, [Option(option, _plain(value), "") for option, value in options.items()])


def _plain(value: object) -> float | str | None:
    return value if value is None or isinstance(value, int | float) else str(value)


def _parameters(doc: str) -> dict[str, str]:
    r"""Return the texts of the section "Parameters" of a docstring. An indented line continues the line before.

    >>> _parameters("Play.\n\nParameters\n    f: f(K), > 0. None is\n        0.3 K.\n\nCost\n    Little: O(1).")
    {'f': 'f(K), > 0. None is 0.3 K.'}
    """
    found: dict[str, str] = {}
    section = doc.partition("Parameters\n")[2].partition("\n\n")[0]
    for line in section.splitlines():
        name, colon, text = line.strip().partition(": ")
        if colon and name.isidentifier() and not line.startswith("     "):
            found[name] = text
        elif found:
            found[list(found)[-1]] += f" {line.strip()}"
    return found


ROUTES = (Route("GET", "/v1/algorithms", "read", algorithms, Algorithms),)
