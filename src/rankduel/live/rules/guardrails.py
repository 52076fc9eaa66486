"""Guardrails: bounds on unwanted actions.

`Maintenance.check_guardrails` (live/runtime/maintenance.py) pauses a tournament when one is crossed.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from rankduel.live.rules.validation import check_name, known, number, whole

__all__ = ["MAX_GUARDRAILS", "MAX_WINDOW_SECONDS", "Guardrail", "GuardrailWindow", "crossed"]

MAX_GUARDRAILS = 100  # of a tournament
MAX_WINDOW_SECONDS = 30 * 86_400.0  # of a guardrail
_SAMPLES_PER_WINDOW = 240
_MAX_P_VALUE = 1e-6


@dataclass(frozen=True)
class Guardrail:
    """An upper bound on the share of pages with an action, among the pages of the last `window` seconds.

    A `bound` of 0.02 is 2 % of the pages. A guardrail is not checked on fewer than `minimum` pages.

    >>> Guardrail("error", bound=0.02)
    Guardrail(action='error', bound=0.02, window=3600.0, minimum=100)
    >>> Guardrail("error", bound=2)
    Traceback (most recent call last):
    ValueError: bound must be a number of at least 0 and below 1, got 2
    """

    action: str
    bound: float
    window: float = 3600.0
    minimum: int = 100

    def __post_init__(self) -> None:
        window = number("window", self.window)
        if window == 0:
            raise ValueError(f"window must be a number of seconds above 0, got {self.window!r}")
        values = {
            "action": check_name("action", self.action),
            "bound": number("bound", self.bound, below=1),
            "window": window,
            "minimum": whole("minimum", self.minimum, at_least=1),
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the guardrail as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Make a guardrail from the result of `to_dict`. `window` and `minimum` have defaults.

        >>> Guardrail.from_dict({"action": "error", "bound": 0.02}) == Guardrail("error", 0.02)
        True
        """
        values = known("a guardrail", stored, [each.name for each in fields(cls)])
        if not {"action", "bound"} <= set(values):
            raise ValueError(f"a guardrail needs an action and a bound, got {', '.join(values) or 'nothing'}")
        return cls(**values)


class GuardrailWindow:
    """The growth of the two counters of a guardrail within its window.

    At most 240 samples of the counters are kept, so the window is up to 1/240 longer than requested.

    >>> window = GuardrailWindow(60.0)
    >>> window.grown(0.0, events=0, pages=0)
    (0, 0)
    >>> window.grown(30.0, events=1, pages=20), window.grown(90.0, events=5, pages=50)
    ((1, 20), (4, 30))
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._samples: deque[tuple[float, int, int]] = deque()  # time, events, pages

    def grown(self, time: float, events: int, pages: int) -> tuple[int, int]:
        """Add the current counters. Return how much both have grown since the window began."""
        if not self._samples or time - self._samples[-1][0] >= self.seconds / _SAMPLES_PER_WINDOW:
            self._samples.append((time, events, pages))
        while len(self._samples) > 1 and self._samples[1][0] <= time - self.seconds:
            self._samples.popleft()
        _, events_before, pages_before = self._samples[0]
        return events - events_before, pages - pages_before


def crossed(guardrail: Guardrail, events: int, pages: int) -> str | None:
    """Return the reason to pause the tournament, or None. The action happened on `events` of `pages` in the window.

    A guardrail is crossed if the exact binomial p-value is at most 1e-6: the probability of at least this many events
    if the true rate is equal to the bound. The limit is this small because guardrails are checked again and again. With
    a check after each page, a rate at the bound crossed once in about 5,700 windows (with a limit of 1e-4, once in
    380), and a rate at nine tenths of the bound never in 40,000 windows. The price: a rate of twice a bound of 5 % is
    noticed after 550 pages on average, not 340.

    >>> rail = Guardrail("error", bound=0.02)
    >>> crossed(rail, events=12, pages=400) is None
    True
    >>> crossed(rail, events=40, pages=400)
    'error on 40 of 400 pages in 3600 s: 10 %, above the bound of 2 % (p-value 1.8e-16)'
    """
    events = min(whole("events", events), whole("pages", pages))  # events may also be of pages before the window
    if pages < guardrail.minimum or events <= guardrail.bound * pages:
        return None
    p_value = _tail(events, pages, guardrail.bound)
    if p_value > _MAX_P_VALUE:
        return None
    rate = f"{guardrail.action} on {events} of {pages} pages in {guardrail.window:g} s: {100 * events / pages:.3g} %"
    return f"{rate}, above the bound of {100 * guardrail.bound:.3g} % (p-value {p_value:.2g})"


def _tail(events: int, pages: int, rate: float) -> float:
    """Return P(X >= events) for X ~ Binomial(pages, rate). From events > rate * pages on, the terms decrease."""
    if rate == 0:
        return 0.0
    ways = math.lgamma(pages + 1) - math.lgamma(events + 1) - math.lgamma(pages - events + 1)
    term = math.exp(ways + events * math.log(rate) + (pages - events) * math.log1p(-rate))
    total, odds = 0.0, rate / (1 - rate)
    while term > total * 1e-17:
        total += term
        term *= (pages - events) / (events + 1) * odds
        events += 1
    return total
