"""Summary sentence of a tournament: the headline of its decision, with state and forecast."""

from rankduel.dashboard.forecast import Forecast
from rankduel.dashboard.health_status import fallback
from rankduel.live import View
from rankduel.live.standings import decision

__all__ = ["summary_sentence"]


def summary_sentence(view: View, forecast: Forecast | None, per_day: float, *, failing: bool = False) -> str:
    """Summarise the state of a tournament in a line. After the decision, this is the headline of the decision."""
    found = decision(view)
    if found.winner is not None or found.tied:
        return found.headline
    paused = "Paused. " if view.status == "paused" else ""
    if failing:
        return f"{paused}The tournament has failed, and users see {fallback(view)}. {found.headline}"
    if found.stopped:
        return found.headline
    if forecast is None:
        return f"{paused}{found.headline}"
    return f"{paused}{found.headline} {_forecast(forecast, per_day if view.status == 'running' else 0)}"


def _forecast(forecast: Forecast, per_day: float) -> str:
    """Say how many duels a decision needs, and how long they take."""
    if forecast.duels is None:
        return "A forecast of the decision is not possible yet."
    if not forecast.duels:
        return "A decision is expected soon."
    duels = "1 more duel" if forecast.duels == 1 else f"{_rounded(forecast.duels)} more duels"
    time = f", {_time(forecast.duels / per_day)} at today's traffic" if per_day else ""
    return f"A decision needs about {duels}{time}."


def _rounded(n: int) -> str:
    """Round to two significant digits.

    >>> _rounded(212_345), _rounded(87)
    ('210,000', '87')
    """
    unit = 10 ** max(0, len(str(n)) - 2)
    return f"{round(n / unit) * unit:,}"


def _time(days: float) -> str:
    """Format a time in its largest suitable unit.

    >>> _time(2.1), _time(0.2), _time(0.001), _time(90)
    ('2 days', '5 hours', '1 minute', '3 months')
    """
    for unit, length, most in (("minute", 1 / 1440, 90), ("hour", 1 / 24, 36), ("day", 1.0, 60), ("month", 30.0, 24)):
        count = max(1, round(days / length))
        if count <= most:
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{days / 365:,.0f} years"
