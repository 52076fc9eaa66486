"""Problems of a client: what went wrong, what to do about it, and when to log it.

The rules know neither threads, sockets nor loggers: the caller passes the time, and logs the lines that it gets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from logging import INFO, WARNING
from typing import Any, NamedTuple

from rankduel.client.answers import words
from rankduel.client.response import Answer

__all__ = ["KINDS", "ClientProblem", "Line", "ProblemLog", "problem_in"]

REPEAT_SECONDS = 3600.0  # between two warnings of one kind
_MAX_DETAIL_CHARACTERS = 300
_PATIENT_KIND = "no-response"  # some late responses are normal, so they are logged when
_PATIENT_CALLS, _PATIENT_SECONDS = 3, 1.0  # no response arrives for a second, or when
_PATIENT_TOTAL = 100  # of them came since the last warning
_EFFECTS = {
    "ask": "users see the baseline",
    "tell": "outcomes are lost or wait",
    "show": "pages are lost or wait",
    "observe": "signals are lost or wait",
}
_KEY = re.compile(r"rd_[\w-]+")


class Kind(NamedTuple):
    """A kind of problem: its title, and what to do. `lasts` is False if it concerns single items."""

    title: str
    advice: str
    lasts: bool = True


_SEE_LOG = "see the log and the health of the service"
_VERSIONS = "check that client and service run the same version of rankduel"
_CHECK_KEY = "check the setting `key` or the environment variable RANKDUEL_KEY; `rankduel keys list` lists the keys"
_CHECK_ITEM = "correct the arguments of the call; the detail names the invalid value"
_CHECK_URL = "check host, port and path in the setting `url`"
KINDS = {
    # Found by the client
    "no-response": Kind(
        "No response before the deadline", "check the load of the service and the network, or raise `deadline`"
    ),
    "unreachable": Kind("Service unreachable", f"check that the service runs; {_CHECK_URL}"),
    "unknown-host": Kind("Unknown host name", "check the host name in the setting `url`, and your name service"),
    "tls": Kind(
        "TLS connection failed", "check the certificate of the service, and http or https in the setting `url`"
    ),
    "invalid-response": Kind("Invalid response", f"check that `url` is a rankduel service; {_VERSIONS}"),
    "redirect": Kind(
        "Redirects are not followed", "use the address that the service redirects to as the setting `url`"
    ),
    "refused": Kind("Request refused", f"{_CHECK_URL}, and the proxy in front of the service; {_VERSIONS}"),
    "server-error": Kind("Service or proxy failed", f"{_SEE_LOG}, or the log of the proxy in front of it"),
    "queue-full": Kind(
        "Queue full", "check that the service is reachable, or raise `queue` and `queue_bytes`", lasts=False
    ),
    "closed": Kind("Client closed", "tell before you close the client", lasts=False),
    "unsent": Kind(
        "Items not sent in time", "check that the service is reachable, or raise `exit_timeout`", lasts=False
    ),
    "told-early": Kind(
        "Page views told early, because too many are open", "close views, or lower `view_timeout`", lasts=False
    ),
    "no-view": Kind(
        "No open page view",
        "open it once, with its page, before its duel is told; if clicks come later, raise `view_timeout`",
        lasts=False,
    ),
    "not-told": Kind("Page view not told", _CHECK_ITEM, lasts=False),
    "late": Kind("The duel is over", "tell sooner, or raise `expires_after` of the tournament", lasts=False),
    # Sent by the service, with the titles of rankduel.service.problems
    "bad-request": Kind("Malformed request", _VERSIONS),
    "bad-host": Kind(
        "Host not allowed",
        "use a host name in the setting `url` that the service knows, or add it to its setting `hosts`",
    ),
    "too-deep": Kind("JSON nested too deeply", _CHECK_ITEM, lasts=False),
    "no-key": Kind("API key required", "pass `key`, or set the environment variable RANKDUEL_KEY"),
    "wrong-key": Kind("Invalid API key", _CHECK_KEY),
    "wrong-scope": Kind(
        "API key lacks the required scope",
        "create a key with the scopes ask and tell, and ingest for `observe`, with `rankduel keys create`",
    ),
    "cross-site": Kind("Cross-site request refused", _CHECK_KEY),
    "not-found": Kind("Not found", f"{_CHECK_URL}; {_VERSIONS}"),
    "unknown-tournament": Kind(
        "Unknown tournament", "check the setting `tournament`; `rankduel tournaments list` lists the tournaments"
    ),
    "unknown-duel": Kind(
        "Unknown duel", "check that the ticket is of this tournament and its present storage", lasts=False
    ),
    "wrong-method": Kind("Method not allowed", f"{_CHECK_URL}; {_VERSIONS}"),
    "conflict": Kind(
        "Conflicting outcome",
        "tell a duel once: collect the clicks of a page with `client.page_view`, or send signals with `observe`",
        lasts=False,
    ),
    "too-large": Kind("Body too large", "send smaller pages, or raise `largest_body` of the service"),
    "wrong-media-type": Kind("Unsupported media type", _VERSIONS),
    "bad-value": Kind("Invalid value", _CHECK_ITEM, lasts=False),
    "too-many-requests": Kind("Rate limit exceeded", "raise `rate` and `burst` of the service"),
    "too-many-wrong-keys": Kind("Too many invalid API keys from this address", _CHECK_KEY),
    "failed": Kind("Internal server error", _SEE_LOG),
    "stopping": Kind("Server is stopping", "wait for its restart"),
    "busy": Kind("Too many pending reads", _SEE_LOG),
    "deadline": Kind("Deadline exceeded", _SEE_LOG),
    "broken-tournament": Kind("Tournament cannot be opened", _SEE_LOG),
    "storage": Kind("Storage unavailable", _SEE_LOG),
}


@dataclass(frozen=True, slots=True)
class ClientProblem:
    """Something that kept a client from working, for example a wrong key."""

    kind: str  # such as wrong-key: the type of the service's problem, or a kind of the client's own
    call: str  # ask, tell, show or observe
    title: str
    detail: str  # of the last time
    advice: str  # what to do
    when: float  # the last time, in seconds since 1970
    count: int  # in this process: calls, or items that were dropped
    over: bool  # a later call succeeded


class Line(NamedTuple):
    """A line for the log."""

    level: int
    text: str


@dataclass(slots=True)
class _Entry:
    """The history of one kind of problem of one call."""

    detail: str = ""
    when: float = 0.0
    count: int = 0
    over: bool = False
    in_a_row: int = 0  # since the last success
    since: float = 0.0  # the first of these
    warned: float | None = None  # the time of the last warning
    logged: int = 0  # the count in the last warning
    announced: bool = False  # a warning was logged, and its end was not
    ended: int = 0  # the count in the last line about an end


class ProblemLog:
    """Decides which problems of a client are logged. Each kind is logged once an hour per call, with its count.

    Only known kinds are kept, and details are cut, so a hostile service can fill neither the log nor the memory.

    >>> log = ProblemLog("http://127.0.0.1:8080", "home-serch", None)
    >>> print(log.failed("ask", "unknown-tournament", "no tournament 'home-serch'", now=0.0).text)
    ask failed: Unknown tournament: no tournament 'home-serch'. Check the setting `tournament`; `rankduel tournaments
    list` lists the tournaments (unknown-tournament, once; users see the baseline; tournament 'home-serch' at
    http://127.0.0.1:8080; logged at most once an hour)
    >>> log.failed("ask", "unknown-tournament", "no tournament 'home-serch'", now=1.0) is None
    True
    >>> print(log.succeeded("ask", now=2.0)[0].text)
    ask works again: Unknown tournament is over, after 2 times (tournament 'home-serch' at http://127.0.0.1:8080)
    >>> log.last.over, log.counts()
    (True, {'unknown-tournament': 2})
    """

    def __init__(self, url: str, tournament: str, key: str | None) -> None:
        self._where = f"tournament {tournament!r} at {url}"
        self._key = key
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._last: tuple[str, str] | None = None
        self.failing: set[str] = set()  # calls with a problem that is not over

    def failed(
        self, call: str, kind: str, detail: str, now: float, *, times: int = 1, urgent: bool = False
    ) -> Line | None:
        """Record a problem. Return a warning to log, if it is due. With `urgent`, late responses are logged too."""
        entry = self._entries.setdefault((call, kind), _Entry())
        entry.detail, entry.when, entry.over = self._cleaned(detail), now, False
        entry.count += times
        entry.in_a_row += 1
        if entry.in_a_row == 1:
            entry.since = now
        self._last = call, kind
        self.failing.add(call)
        if entry.warned is not None and abs(now - entry.warned) < REPEAT_SECONDS:  # abs: the clock may be set back
            return None
        if kind == _PATIENT_KIND and not urgent and not _lasts(entry, now):
            return None
        return Line(WARNING, self._warning(call, kind, entry, now))

    def succeeded(self, call: str, now: float) -> list[Line]:
        """Record a successful call: its problems are over. Return lines to log."""
        lines = []
        for kind, entry in self._of(call):
            entry.over, entry.in_a_row = True, 0
            if entry.announced and KINDS[kind].lasts:
                title, times = KINDS[kind].title, _times(entry.count - entry.ended)
                entry.ended = entry.count
                lines.append(Line(INFO, f"{call} works again: {title} is over, after {times} ({self._where})"))
            entry.announced = False
        self.failing.discard(call)
        return lines

    @property
    def last(self) -> ClientProblem | None:
        """The last problem; None if there was none."""
        if self._last is None:
            return None
        (call, kind), entry = self._last, self._entries[self._last]
        title, advice, _ = KINDS[kind]
        return ClientProblem(kind, call, title, entry.detail, advice, entry.when, entry.count, entry.over)

    def counts(self) -> dict[str, int]:
        """Return how often each kind of problem happened."""
        counts: dict[str, int] = {}
        for (_, kind), entry in self._entries.items():
            counts[kind] = counts.get(kind, 0) + entry.count
        return counts

    def _of(self, call: str) -> Iterator[tuple[str, _Entry]]:
        return ((kind, entry) for (each, kind), entry in self._entries.items() if each == call and not entry.over)

    def _warning(self, call: str, kind: str, entry: _Entry, now: float) -> str:
        title, advice, _ = KINDS[kind]
        times = _times(entry.count - entry.logged)
        if entry.warned is not None:
            times += " since the last warning"
        entry.warned, entry.logged, entry.announced = now, entry.count, True
        said = f"{title}: {entry.detail}" if entry.detail else title
        to_do = f"{advice[0].upper()}{advice[1:]}"
        facts = f"{kind}, {times}; {_EFFECTS[call]}; {self._where}; logged at most once an hour"
        return f"{call} failed: {said}. {to_do} ({facts})"

    def _cleaned(self, detail: str) -> str:
        """Return a text of the service on one line, short, and without API keys."""
        if self._key is not None:
            detail = detail.replace(self._key, "***")
        return words(_KEY.sub("***", detail)[:_MAX_DETAIL_CHARACTERS]).rstrip(".")


def problem_in(answer: Answer) -> tuple[str, str]:
    """Return kind and detail of an error response. Unknown types are classified by their status.

    >>> problem_in(Answer(401, {"type": "/problems/wrong-key", "detail": "the API key was revoked"}))
    ('wrong-key', 'the API key was revoked')
    >>> problem_in(Answer(502, None))
    ('server-error', 'status 502')
    """
    body: dict[str, Any] = answer.value if isinstance(answer.value, dict) else {}
    name, detail = body.get("type"), body.get("detail")
    kind = name.removeprefix("/problems/") if isinstance(name, str) else ""
    if kind not in KINDS or not 400 <= answer.status < 600:
        kinds = {2: "invalid-response", 3: "redirect", 4: "refused", 5: "server-error"}
        kind = kinds.get(answer.status // 100, "invalid-response")
    if not isinstance(detail, str) or not detail:
        detail = f"status {answer.status}"
    return kind, detail


def _lasts(entry: _Entry, now: float) -> bool:
    """Whether late responses are worth a warning: nothing else comes, or there are many."""
    no_response = entry.in_a_row >= _PATIENT_CALLS and abs(now - entry.since) >= _PATIENT_SECONDS
    return no_response or entry.count - entry.logged >= _PATIENT_TOTAL


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
