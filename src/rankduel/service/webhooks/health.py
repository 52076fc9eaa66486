"""Changes of the health light: a tournament turned yellow or red, or green again."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic

from rankduel.dashboard import HealthStatus, health_status
from rankduel.errors import StorageError
from rankduel.live import LocalTournament
from rankduel.live.runtime.clock import now
from rankduel.service.webhooks.messages import Message

__all__ = ["SETTLED_SECONDS", "HealthWatch"]

SETTLED_SECONDS = 30.0  # a light that changes for a shorter time is not reported
_COLOURS = {"good": "green", "warning": "yellow", "bad": "red"}


class HealthWatch:
    """The health lights that were last reported. At the start, all are green."""

    def __init__(
        self,
        tournaments: Callable[[], Mapping[str, LocalTournament]],
        broken: Callable[[], Mapping[str, str]],
        settled_seconds: float = SETTLED_SECONDS,
    ) -> None:
        self._tournaments, self._broken, self._settled_seconds = tournaments, broken, settled_seconds
        self._reported: dict[str, str] = {}  # by tournament, other than "good"
        self._changing: dict[str, tuple[str, float]] = {}  # the new state, and since when

    def changes(self) -> list[Message]:
        """Return a message for each light that has settled on another colour."""
        lights = {name: _light(t) for name, t in sorted(self._tournaments().items())}
        lights |= {name: HealthStatus("bad", [f"Cannot be opened: {why}."]) for name, why in self._broken().items()}
        self._changing = {name: change for name, change in self._changing.items() if name in lights}
        self._reported = {name: state for name, state in self._reported.items() if name in lights}
        return [_message(name, light) for name, light in lights.items() if self._has_settled(name, light.state)]

    def _has_settled(self, name: str, state: str) -> bool:
        if state == self._reported.get(name, "good"):
            self._changing.pop(name, None)
            return False
        new, since = self._changing.get(name, (state, monotonic()))
        if new != state:
            since = monotonic()
        self._changing[name] = state, since
        if monotonic() - since < self._settled_seconds:
            return False
        del self._changing[name]
        self._reported[name] = state
        return True


def _light(t: LocalTournament) -> HealthStatus:
    view, paused = t.view(), None
    if view.status == "paused":
        with suppress(StorageError):
            paused = next((event for event in t.audit(100) if event.kind == "paused"), None)
    return health_status(view, t.health(), paused)


def _message(tournament: str, light: HealthStatus) -> Message:
    colour = _COLOURS[light.state]
    headline = f"The health light is {colour}{': ' if light.reasons else ' again.'}{' '.join(light.reasons)}"
    more = {"health": colour, "reasons": light.reasons}
    return Message("health", tournament, None, now(), headline, more=more)
