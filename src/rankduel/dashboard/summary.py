"""The summary sentence of a tournament, as the overview and the report show it."""

from rankduel.dashboard.forecast import Forecast
from rankduel.live import View

__all__ = ["summary_sentence"]


def summary_sentence(view: View, forecast: Forecast | None, per_day: float, *, failing: bool = False) -> str:
    """Summarise the state of a tournament in one sentence."""
    names, confidence = view.names, view.decision.confidence
    sure = "" if confidence.delta is None else f" with {100 * (1 - confidence.delta):g} % certainty"
    left = f"{len(view.alive):,} of {_rankers(len(names))} remain"
    after, leads = f"after {view.resolved:,} duels", f"{names[view.champion]} leads"
    if view.decision.winner is not None:
        text = f"Decided{sure}: {names[view.decision.winner]} is the best of {_rankers(len(names))}, {after}"
    elif view.decision.tied:
        text = f"Decided{sure}: {_listed([names[arm] for arm in view.decision.tied])} are tied, {after}"
    elif failing:
        text = f"It has failed, and users see the baseline; {left}, {after}"
    elif view.status == "stopped":
        text = f"Stopped before a decision: {left}, and {leads} {after}"
    elif not view.resolved:
        text = f"Not a single outcome yet: {left}"
    elif forecast is None:
        text = f"{left}; {leads} {after}"
    elif forecast.duels is None:
        text = f"{left}; {leads} {after}; the end cannot be foreseen yet"
    else:
        days = (
            f", {_time(forecast.duels / per_day)} at today's traffic," if view.status == "running" and per_day else ""
        )
        text = f"{left}; {leads}; about {_rounded(forecast.duels)} duels{days} to a decision{sure}"
    return f"Paused. {text}." if view.status == "paused" and not text.startswith("Decided") else f"{text}."


def _rankers(n: int) -> str:
    return "1 ranker" if n == 1 else f"{n:,} rankers"


def _listed(names: list[str]) -> str:
    if len(names) > 5:
        return f"{', '.join(names[:4])} and {len(names) - 4} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _rounded(n: int) -> str:
    """Two digits that count.

    >>> _rounded(212_345), _rounded(87)
    ('210,000', '87')
    """
    unit = 10 ** max(0, len(str(n)) - 2)
    return f"{round(n / unit) * unit:,}"


def _time(days: float) -> str:
    """A time as people say it.

    >>> _time(2.1), _time(0.2), _time(0.001), _time(90)
    ('2 days', '5 hours', '1 minute', '3 months')
    """
    for unit, length, most in (("minute", 1 / 1440, 90), ("hour", 1 / 24, 36), ("day", 1.0, 60), ("month", 30.0, 24)):
        count = max(1, round(days / length))
        if count <= most:
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{days / 365:,.0f} years"
