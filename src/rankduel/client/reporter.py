"""Report problems of a client to the logger `rankduel`, from any thread."""

import logging
import threading
from contextlib import suppress
from time import time

from rankduel.client.problems import ClientProblem, Line, ProblemLog

__all__ = ["Reporter"]

_log = logging.getLogger("rankduel")


class Reporter:
    """A thread-safe `ProblemLog` that writes to the log. It never raises, whatever handlers the logger has."""

    def __init__(self, url: str, tournament: str, key: str | None) -> None:
        self._made_of = url, tournament, key
        self.forked()

    def forked(self) -> None:
        """Start afresh after a fork: the inherited lock may never be released."""
        self._problems = ProblemLog(*self._made_of)
        self._lock = threading.Lock()

    def failed(self, call: str, kind: str, detail: str = "", *, times: int = 1, urgent: bool = False) -> None:
        """Count a problem, and log it if that is due."""
        with self._lock:
            line = self._problems.failed(call, kind, detail, time(), times=times, urgent=urgent)
        if line is not None:
            _write(line)

    def succeeded(self, call: str) -> None:
        """Note that a call succeeded: its problems are over."""
        if call not in self._problems.failing:
            return
        with self._lock:
            lines = self._problems.succeeded(call, time())
        for line in lines:
            _write(line)

    @property
    def last(self) -> ClientProblem | None:
        """The last problem; None if there was none."""
        with self._lock:
            return self._problems.last

    def counts(self) -> dict[str, int]:
        """Return how often each kind of problem happened."""
        with self._lock:
            return self._problems.counts()


def _write(line: Line) -> None:
    with suppress(Exception):  # of a handler: it must not reach the request of a user
        _log.log(line.level, "%s", line.text)
