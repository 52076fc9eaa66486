"""The clock of live tournaments: the time of this machine, without the jumps of its clock.

A clock that is set a day ahead would expire all duels at once, and stamp events with times that stop tournaments for a
day once the clock is right again. A clock that is set back would stop them at once. So the time of tournaments ignores
a jump: it goes on with a second clock that nobody can set, until the first one is back or the process is restarted.
"""

import logging
import threading
import time as clocks
from time import time

__all__ = ["CLOCK", "Clock", "behind", "now"]

_MAX_STEP_SECONDS = 60.0  # larger steps are jumps; smaller ones, of time synchronisation, are followed
_STEADY = getattr(clocks, "CLOCK_BOOTTIME", clocks.CLOCK_MONOTONIC)  # counts the time in which the machine sleeps, too
_log = logging.getLogger("rankduel")


def _steady() -> float:
    return clocks.clock_gettime(_STEADY)


class Clock:
    """Seconds since 1970. Thread-safe.

    >>> Clock().jump
    0.0
    """

    def __init__(self) -> None:
        self.jump = 0.0  # seconds by which the clock of the machine is ahead of this one, if it has jumped
        self._read = time(), _steady()  # both clocks, when they last agreed
        self._lock = threading.Lock()

    def now(self) -> float:
        """Return the time. Log when the clock of the machine jumps, and when it is right again."""
        wall, steady = time(), _steady()
        agreed_wall, agreed_steady = self._read
        expected = agreed_wall + steady - agreed_steady
        ahead = wall - expected
        if abs(ahead) <= _MAX_STEP_SECONDS:
            self._read = wall, steady
            ahead = 0.0
        if abs(ahead - self.jump) > _MAX_STEP_SECONDS or (self.jump and not ahead):
            self._note(ahead)
        return expected if ahead else wall

    @property
    def warning(self) -> str | None:
        """What to do about a jump, or None."""
        if not self.jump:
            return None
        way = "ahead" if self.jump > 0 else "back"
        return (
            f"The clock jumped {way} by {_span(self.jump)}. Tournaments ignore the jump, so no duel expires because of "
            "it. Correct the clock. If the new time is right, restart the process."
        )

    def _note(self, ahead: float) -> None:
        with self._lock:
            if abs(ahead - self.jump) <= _MAX_STEP_SECONDS and bool(ahead) == bool(self.jump):
                return  # another thread has logged it
            self.jump = ahead
        _log.warning(self.warning or "The clock is right again.")


def behind(last: float, time: float) -> str | None:
    """Return a warning if the last event of a tournament is later than the time, or None.

    >>> behind(200_000.0, 0.0)
    'The last event is 2 days in the future: the clock was set back. Until it has caught up, time stands still: no \
duel expires, and no attribution window closes. Correct the clock.'
    """
    if last - time <= _MAX_STEP_SECONDS:
        return None
    return (
        f"The last event is {_span(last - time)} in the future: the clock was set back. Until it has caught up, time "
        "stands still: no duel expires, and no attribution window closes. Correct the clock."
    )


def _span(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = round(abs(seconds) / length)
        if count:
            return f"{count:,} {unit}{'s' * (count > 1)}"
    return f"{abs(seconds):.0f} seconds"


CLOCK = Clock()
now = CLOCK.now
