"""Options for the settings that `tournaments create` sets and `tournaments configure` changes."""

import json
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable
from typing import Any

from rankduel.cli.shared.numbers import whole
from rankduel.live import Guardrail
from rankduel.live.rules.lifecycle import AFTER_DECISION
from rankduel.live.settings import DIALS

__all__ = ["declare_settings", "given_settings"]


def declare_settings(parser: ArgumentParser, *, new: bool) -> None:
    """Add the options. For a `new` tournament, the help states defaults. Otherwise, omitted settings stay."""
    option = parser.add_argument

    def default(text: str) -> str:
        return f" (default: {text})" if new else ""

    option("--baseline", metavar="RANKER", help=f"ranker that users see without a duel{default('the first ranker')}")
    option(
        "--external-baseline",
        action="store_true" if new else BooleanOptionalAction,
        help="allow a baseline that is not a ranker of the tournament",
    )
    option(
        "--share",
        type=float,
        metavar="S",
        help=f"share of the traffic that takes part, from 0 to 1{default('1')}",
    )
    option(
        "--shadow",
        action="store_true" if new else BooleanOptionalAction,
        help="dry run: choose and log duels, show users the baseline",
    )
    option(
        "--after-decision",
        choices=AFTER_DECISION,
        help="what the share sees after a decision: the winner, the baseline, or duels of the winner against the "
        f"baseline{default('winner')}",
    )
    no_cap = default("no cap") if new else "; none removes the cap"
    cap = whole(1) if new else _or_none("none", whole(1))
    option(
        "--daily-cap",
        type=cap,
        metavar="N",
        help=f"maximum number of duels per client and day{no_cap}",
    )
    option("--in-flight-cap", type=cap, metavar="N", help=f"maximum number of duels in flight{no_cap}")
    every = "may be repeated" if new else "may be repeated; the given guardrails replace all others"
    option(
        "--guardrail",
        dest="guardrails",
        action="append",
        type=_guardrail,
        metavar="ACTION=BOUND",
        help="pause the tournament if an action is on more than this share of the pages, such as error=0.02 or "
        f"error=0.02,window=600,minimum=50; {every}",
    )
    if not new:
        option("--no-guardrails", dest="guardrails", action="store_const", const=[], help="remove all guardrails")
    reset = "" if new else "; none restores the default"
    option(
        "--attribution",
        type=_json if new else _or_none("none", _json),
        metavar="JSON",
        help=f'rules that turn signals into an outcome, such as {{"actions": {{"click": 1}}, "window": 600}}{reset}',
    )


def given_settings(options: Namespace) -> dict[str, Any]:
    """Return the settings that the options give."""
    values = {name: getattr(options, name) for name in DIALS}
    return {name: None if value is _NONE else value for name, value in values.items() if value is not None}


_NONE = object()  # the value of an option that removes a setting


def _or_none(word: str, convert: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: _NONE if text == word else convert(text)


def _guardrail(text: str) -> Guardrail:
    """Parse a guardrail.

    >>> _guardrail("error=0.02,window=600")
    Guardrail(action='error', bound=0.02, window=600.0, minimum=100)
    """
    rule, *more = text.split(",")
    action, equals, bound = rule.rpartition("=")
    try:
        fields = {name: json.loads(value) for name, _, value in (each.partition("=") for each in more)}
        return Guardrail.from_dict({"action": action, "bound": json.loads(bound), **fields} if equals else {})
    except (ValueError, TypeError) as error:
        expected = "ACTION=BOUND such as error=0.02, optionally with ,window=SECONDS and ,minimum=PAGES"
        raise ArgumentTypeError(f"expected {expected}, got {text!r}: {error}") from None


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"expected JSON, got {text!r}: {error}") from None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"expected a JSON object, got {text!r}")
    return value
