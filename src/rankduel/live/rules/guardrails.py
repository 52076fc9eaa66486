"""Guardrails: bounds on unwanted actions that pause a tournament when they are crossed."""

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
    """A bound on how often an action may happen: on `bound` (0.02 is 2 %) of the pages of the last `window` seconds.

    Fewer than `minimum` pages are not judged.

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
            raise ValueError(f"window must be more than 0 seconds, got {self.window!r}")
        values = {
            "action": check_name("action", self.action),
            "bound": number("bound", self.bound, below=1),
            "window": window,
            "minimum": whole("minimum", self.minimum, at_least=1),
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    def to_dict(self) -> dict[str, Any]:
        """What is in it, by name, as JSON can keep it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The guardrail again, from `to_dict`; `window` and `minimum` may be missing.

        >>> Guardrail.from_dict({"action": "error", "bound": 0.02}) == Guardrail("error", 0.02)
        True
        """
        values = known("a guardrail", stored, [each.name for each in fields(cls)])
        if not {"action", "bound"} <= set(values):
            raise ValueError(f"a guardrail has an action and a bound, got {', '.join(values) or 'nothing'}")
        return cls(**values)


class GuardrailWindow:
    """How much the two counters of a guardrail have grown within its window.

    It keeps at most 240 samples of them, so the window is up to 1/240 longer than asked for, whatever its length.

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
        """Take in the counters as they are now; how much they have grown since the window began."""
        if not self._samples or time - self._samples[-1][0] >= self.seconds / _SAMPLES_PER_WINDOW:
            self._samples.append((time, events, pages))
        while len(self._samples) > 1 and self._samples[1][0] <= time - self.seconds:
            self._samples.popleft()
        _, events_before, pages_before = self._samples[0]
        return events - events_before, pages - pages_before


def crossed(guardrail: Guardrail, events: int, pages: int) -> str | None:
    """Why the tournament should pause, or None: of `pages` shown within the window, the action happened on `events`.

    It should where a rate that is at the bound would give so many events with a probability of at most 1e-6, exactly:
    by the tail of the binomial law. So small, because one looks again and again. A rate at the bound, looked at after
    each page, crossed once in about 5,700 windows (1e-4: once in 380), and one at nine tenths of it never in 40,000;
    the price is that a rate of twice a bound of 5 % is noticed after 550 pages on average and not 340.

    >>> rail = Guardrail("error", bound=0.02)
    >>> crossed(rail, events=12, pages=400) is None
    True
    >>> crossed(rail, events=40, pages=400)
    'error on 40 of 400 pages in 3600 s: 10 %, above the bound of 2 % (by chance with a probability of 1.8e-16)'
    """
    events = min(whole("events", events), whole("pages", pages))  # those of pages before the window come on top
    if pages < guardrail.minimum or events <= guardrail.bound * pages:
        return None
    chance = _tail(events, pages, guardrail.bound)
    if chance > _MAX_P_VALUE:
        return None
    seen = f"{guardrail.action} on {events} of {pages} pages in {guardrail.window:g} s: {100 * events / pages:.3g} %"
    bound = f"the bound of {100 * guardrail.bound:.3g} %"
    return f"{seen}, above {bound} (by chance with a probability of {chance:.2g})"


def _tail(events: int, pages: int, rate: float) -> float:
    """P(X >= events) for X ~ Binomial(pages, rate), where events > rate * pages: from there on, terms only shrink."""
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
