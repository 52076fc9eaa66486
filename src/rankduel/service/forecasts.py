"""What takes a second to compute and is looked at often: ratings, harm and the forecast of each tournament."""

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rankduel.dashboard import Forecast, Harm, forecast, harm, ratings
from rankduel.live import LocalTournament

if TYPE_CHECKING:
    from rankduel.service.service import Service

__all__ = ["Forecasts", "ForecastCache"]

_SHARE = 0.05  # of the time, at most, is spent on it,
_REST = (1.0, 30.0)  # but between two computations lie so many seconds, at least and at most
_log = logging.getLogger("rankduel.service")


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What was computed when the journal had so many events."""

    number: int
    told: int
    harm: Harm | None
    forecast: Forecast | None  # None where there is nothing to foresee


class ForecastCache:
    """The last outlook of each tournament; a new one is begun when somebody looks and the last one is old."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._found: dict[str, Forecasts] = {}
        self._due: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, t: LocalTournament) -> Forecasts | None:
        """What is known now, at once."""
        found = self._found.get(t.name)
        due = monotonic() >= self._due.get(t.name, 0.0)
        if due and not self._tasks and (found is None or found.number != t.number):
            task = asyncio.create_task(self._compute(t))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return found

    async def _compute(self, t: LocalTournament) -> None:
        began, (least, most) = monotonic(), _REST
        try:
            self._found[t.name] = await self._service.replays.run(compute_forecasts, t)
            rest = min(most, max(least, (monotonic() - began) / _SHARE))
        except Exception as error:
            _log.error("no outlook", extra={"tournament": t.name, "error": repr(error)})
            rest = most
        self._due[t.name] = monotonic() + rest


def compute_forecasts(t: LocalTournament) -> Forecasts:
    """Compute it; another thread should."""
    view = t.view()
    rated = ratings(view)
    foreseen = None
    if view.ends and view.told and view.decision.winner is None and not view.decision.tied and view.status != "stopped":
        foreseen = forecast(*t.snapshot(), rated, told=view.told)
    return Forecasts(view.number, view.told, harm(view, rated), foreseen)
