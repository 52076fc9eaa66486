"""Forecast and effect on users of each tournament, computed in the background because they take about a second."""

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic
from weakref import WeakKeyDictionary

from rankduel.dashboard import Forecast, UserEffect, can_forecast, forecast, user_effect
from rankduel.live import LocalTournament
from rankduel.service.read_pool import ReadPool

__all__ = ["Forecasts", "ForecastCache"]

_MAX_SHARE = 0.05  # of the time is spent on computing forecasts,
_MIN_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 1.0, 30.0  # with a pause in this range after each computation
_log = logging.getLogger("rankduel.service")


@dataclass(frozen=True, slots=True)
class Forecasts:
    """Forecast and effect on users as of one event of the journal."""

    number: int  # of the event
    resolved: int  # outcomes up to this event
    effect: UserEffect | None
    forecast: Forecast | None  # None if there is nothing to forecast


class ForecastCache:
    """Cache of the last forecasts of each tournament. Reading outdated ones starts a new computation in a read pool."""

    def __init__(self, pool: ReadPool) -> None:
        self._pool = pool
        self._found: WeakKeyDictionary[LocalTournament, Forecasts] = WeakKeyDictionary()
        self._due: WeakKeyDictionary[LocalTournament, float] = WeakKeyDictionary()
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, t: LocalTournament) -> Forecasts | None:
        """Return the last forecasts of a tournament without waiting, or None if there are none yet."""
        found = self._found.get(t)
        due = monotonic() >= self._due.get(t, 0.0)
        if due and not self._tasks and (found is None or found.number != t.number):
            task = asyncio.create_task(self._compute(t))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return found

    async def _compute(self, t: LocalTournament) -> None:
        began = monotonic()
        try:
            self._found[t] = await self._pool.run(compute_forecasts, t)
            pause = min(_MAX_PAUSE_SECONDS, max(_MIN_PAUSE_SECONDS, (monotonic() - began) / _MAX_SHARE))
        except Exception as error:
            _log.error("cannot compute a forecast", extra={"tournament": t.name, "error": repr(error)})
            pause = _MAX_PAUSE_SECONDS
        self._due[t] = monotonic() + pause


def compute_forecasts(t: LocalTournament) -> Forecasts:
    """Compute the forecasts of a tournament. This takes about a second."""
    view = t.view()
    expected = None
    if can_forecast(view):
        expected = forecast(*t.snapshot(), view.meetings, resolved=view.resolved)
    return Forecasts(view.number, view.resolved, user_effect(view), expected)
