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
    if forecast.too_early:
        return "It is too early to forecast the decision."
    if forecast.most == 0:
        return "A decision is expected soon."
    least = forecast.horizon if forecast.least is None else forecast.least
    if forecast.most is not None:
        time = f", at today's traffic {_times(least / per_day, forecast.most / per_day)}" if per_day else ""
        return f"A decision needs {_range(least, forecast.most)} more duels{time} (80 % interval)."
    time = f", at today's traffic {_time(least / per_day)}" if per_day else ""
    bound = f"A decision needs at least {_rounded(least)} more duels{time}."
    if forecast.least is None:
        return bound
    time = f", {_time(forecast.horizon / per_day)}," if per_day else ""
    chance = f"{round(100 * forecast.chance)} %"
    return f"{bound} It comes within {_rounded(forecast.horizon)} duels{time} with a probability of {chance}."


def _range(least: int, most: int) -> str:
    """Format a range of whole numbers.

    >>> _range(9_012, 21_345), _range(0, 87)
    ('between 9,000 and 21,000', 'at most 87')
    """
    return f"between {_rounded(least)} and {_rounded(most)}" if least else f"at most {_rounded(most)}"


def _times(least: float, most: float) -> str:
    """Format a range of times in days.

    >>> _times(3.1, 7.2), _times(0.2, 3), _times(2.1, 2.2), _times(0, 2.2)
    ('3 to 7 days', '5 hours to 3 days', '2 days', 'at most 2 days')
    """
    low, high = _time(least), _time(most)
    if not least:
        return f"at most {high}"
    if low == high:
        return high
    number, _, unit = low.partition(" ")
    return f"{number if unit.rstrip('s') == high.partition(' ')[2].rstrip('s') else low} to {high}"


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
