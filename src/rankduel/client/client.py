"""`Client`: ask and tell over HTTP for search applications, with a deadline for every ask."""

import atexit
import os
import threading
import weakref
from collections.abc import Hashable, Iterable
from time import monotonic
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from rankduel.client.breaker import Breaker
from rankduel.client.counters import Counters, Tally
from rankduel.client.outbox import Outbox, Route
from rankduel.client.problems import ClientProblem, problem_in
from rankduel.client.reporter import Reporter
from rankduel.client.response import Failure
from rankduel.client.transport import Transport
from rankduel.client.views import ClientPageViews
from rankduel.client.wire import (
    MAX_ITEM_BYTES,
    duel_from,
    encoded,
    event_of,
    item_text,
    method_of,
    path_of,
    query_of,
    show_of,
    tell_of,
)
from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, PageView
from rankduel.live.results import outcome_or_clicks
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.validation import as_list, check_name, whole
from rankduel.types import Outcome

__all__ = ["Client", "key_of"]

KEY_VARIABLE = "RANKDUEL_KEY"  # the environment variable with the API key
_MAX_ANSWER_BYTES = 64 * 1024  # of the response to an ask: a duel has less than 4,000
_MAX_ITEMS_PER_BATCH = 500
_ONE_ASK_REFUSED = (400, 409, 413, 422)  # statuses that reject one ask and say nothing about the next one


class Client:
    """A tournament of a service, for applications with waiting users.

    `ask` returns within `deadline` seconds, even if the service or the network is down. It returns a duel, or the
    baseline (`serve == "baseline"`). While the circuit breaker is open, it returns the baseline without a request.

    `tell`, `show` and `observe` return at once. A background thread sends their items in batches and retries failed
    batches. At most `queue` items with `queue_bytes` bytes in total wait in memory. Further items are dropped.
    `counters` counts every item, dropped ones included.

    Only invalid arguments raise exceptions. Other problems, such as a wrong key, go to the logger `rankduel` as
    warnings: each kind at most once an hour. `last_problem` has the last one, and `counters.problems` counts them.

    Threads may share one object, and so may forked processes.

    Parameters
    ----------
    url : address of the service, `http://host:8080` or `https://host`
    tournament : name of the tournament
    key : API key with the scopes `ask` and `tell`, and `ingest` for `observe`; by default the environment variable
        `RANKDUEL_KEY`
    deadline : maximum duration of an ask in seconds, from 0.001 to 10
    baseline : `first` and `second` of the duel that `ask` returns if the service sends none; by default ""
    queue : maximum number of waiting items, at least 1
    queue_bytes : maximum size of all waiting items as JSON; at least 262,144, the limit of one item
    exit_timeout : maximum number of seconds to wait for unsent items when the program exits
    view_timeout : seconds without a click after which a page view is told (see `page_view`)

    >>> with Client("http://127.0.0.1:9", "home-search", baseline="bm25") as client:
    ...     duel = client.ask(query_id="q-81")
    ...     duel.serve, duel.first, client.tell(duel, Outcome.FIRST)
    ('baseline', 'bm25', True)
    """

    def __init__(
        self,
        url: str,
        tournament: str,
        *,
        key: str | None = None,
        deadline: float = 0.025,
        baseline: str | None = None,
        queue: int = 10_000,
        queue_bytes: int = 64_000_000,
        exit_timeout: float = 2.0,
        view_timeout: float = 600.0,
    ) -> None:
        self.tournament = check_name("tournament", tournament)
        self.deadline = _seconds("deadline", deadline, 0.001, 10)
        self.baseline = "" if baseline is None else check_name("baseline", baseline)
        whole("queue", queue, at_least=1)
        whole("queue_bytes", queue_bytes, at_least=MAX_ITEM_BYTES)
        self.exit_timeout = _seconds("exit_timeout", exit_timeout, 0, 60)
        view_timeout = _seconds("view_timeout", view_timeout, 0.001, 86_000)
        self._transport = Transport(url, key_of(key))
        self._tally = Tally()
        self._reporter = Reporter(url, tournament, key_of(key))
        self._breaker = Breaker(timeout=self.deadline)
        self._breaker_lock = threading.Lock()
        self._outbox = Outbox(self._transport, self._tally, self._reporter, queue, queue_bytes)
        self._ask = path_of(tournament, "ask")
        self._tells = _route("tell", path_of(tournament, "tell"), "receipts")
        self._pages = _route("show", path_of(tournament, "show"), "statuses")
        self._events = _route("observe", f"/v1/events?{urlencode({'tournament': tournament})}", "statuses")
        self._views = ClientPageViews(self._outbox, self._tells, self._reporter, view_timeout)
        self._closed = False
        weakref.finalize(self, _abandon, self._views, self._outbox).atexit = False
        _clients.add(self)

    # Calls while a user waits

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """Get the two rankers to compare for a query. The same query gets the same duel.

        Without a valid response in time, `serve` is "baseline", and `why` is `deadline`, `unreachable`, `refused` or
        `resting` (the circuit breaker is open, so no request was made).
        """
        due = monotonic() + self.deadline
        body = encoded(query_of(query_id, client_id))
        with self._breaker_lock:
            permit = None if self._closed else self._breaker.allows(monotonic())
        if permit is None:
            return self._instead("resting", "rested")
        try:
            answer = self._transport.call("POST", self._ask, body, due=due, largest=_MAX_ANSWER_BYTES)
            duel = duel_from(answer.value) if answer.status == 200 else None
        except Failure as failure:
            self._failed(permit, failure.kind, str(failure))
            late = failure.kind == "no-response"
            return self._instead("deadline", "late") if late else self._instead("unreachable", "failed")
        except Exception as error:  # an invalid response: users see the baseline
            self._failed(permit, "invalid-response", str(error))
            return self._instead("unreachable", "failed")
        if duel is not None or answer.status in _ONE_ASK_REFUSED:
            with self._breaker_lock:
                self._breaker.answered(permit, monotonic())
        if duel is not None:
            self._reporter.succeeded("ask")
            self._tally.add(asks=1, answered=1)
            return duel
        kind, detail = problem_in(answer)
        refused = answer.status < 500
        if answer.status in _ONE_ASK_REFUSED:
            self._reporter.failed("ask", kind, detail)
        else:
            self._failed(permit, kind, detail, refused=refused, retry_after=answer.retry_after)
        return self._instead("refused", "refused") if refused else self._instead("unreachable", "failed")

    def _failed(
        self, permit: int, kind: str, detail: str, *, refused: bool = False, retry_after: float | None = None
    ) -> None:
        """Tell the circuit breaker and the log that an ask failed."""
        with self._breaker_lock:
            self._breaker.failed(permit, monotonic(), refused=refused, retry_after=retry_after)
            is_open = self._breaker.is_open
        self._reporter.failed("ask", kind, detail, urgent=is_open)

    def tell(
        self,
        duel: LiveDuel | str,
        outcome: Outcome | None = None,
        *,
        clicks: Iterable[Hashable] | None = None,
        shown: Interleaved | None = None,
    ) -> bool:
        """Queue the outcome of a duel, or the documents that were clicked on its page. Return False if it was dropped.

        `duel` is what `ask` returned, its ticket or its id. If `ask` returned no duel, nothing is sent, and the result
        is True. The service turns clicks into an outcome by the attribution rules of the tournament.
        """
        result = outcome_or_clicks(duel, outcome, clicks, shown)
        item = None if result is None else tell_of(duel, result)
        return item is None or self._put(self._tells, item)

    def page_view(self, duel: LiveDuel | str, shown: Interleaved | None = None) -> PageView:
        """Collect the clicks on the page of a duel. They are told together, once.

        Call `click(document)` of the view for each click. The view is told when you close it, after `view_timeout`
        seconds without activity, and when the client is closed or the program exits. The same duel gets the same view,
        as long as it is open. So a later request can call `client.page_view(ticket).click(document)`. If its view was
        told before, the click does not count, which is logged.

        At most 50,000 views with 64 MB of pages are open. Beyond that, the view that was idle longest is told early.
        """
        return self._views.open(duel, shown)

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> bool:
        """Queue the page that a user saw, by default the page of `duel.interleave`. Return False if it was dropped."""
        shown = show_of(duel, page)
        return shown is None or self._put(self._pages, shown)

    def observe(self, seen: Iterable[Signal | Shown]) -> bool:
        """Queue signals and shown pages, by the ids of their queries. Return False if any was dropped.

        The key needs the scope `ingest`. Signals resolve a duel when its attribution window closes, if its page was
        reported.
        """
        events = [event_of(item) for item in as_list("seen", seen)]
        dropped = sum(not self._put(self._events, event) for event in events)
        return dropped == 0

    def _put(self, route: Route, item: dict[str, object]) -> bool:
        return self._outbox.put(route, item_text(item))

    def _instead(self, why: str, counter: str) -> LiveDuel:
        """Count an ask without a duel, and return the baseline."""
        self._tally.add(asks=1, **{counter: 1})
        method = method_of("team_draft")
        return LiveDuel(None, self.baseline, self.baseline, 0, 0.0, method, serve="baseline", why=why)

    # Other calls

    @property
    def counters(self) -> Counters:
        """The counters of this process so far."""
        return self._tally.read(self._reporter.counts())

    @property
    def last_problem(self) -> ClientProblem | None:
        """The last problem of this process, such as a wrong key; None if there was none. `over` says if it is over."""
        return self._reporter.last

    @property
    def waiting(self) -> int:
        """The number of items that are queued and not sent yet."""
        return len(self._outbox)

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until everything is sent, at most `timeout` seconds. Return whether it is."""
        return self._outbox.flush(_seconds("timeout", timeout, 0, 1e6))

    def close(self, timeout: float = 2.0) -> None:
        """Tell the open page views, send the queued items for at most `timeout` seconds, and close the connections."""
        self._closed = True
        self._views.close()
        self._outbox.close(_seconds("timeout", timeout, 0, 1e6))
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.tournament!r} at {self._transport.url}>"

    def _forked(self) -> None:
        """Start afresh in a child process: queue and connections belong to the parent."""
        self._tally = Tally()
        self._breaker = Breaker(timeout=self.deadline)
        self._breaker_lock = threading.Lock()
        self._reporter.forked()
        self._transport.forked()
        self._outbox.forked(self._tally)


def key_of(key: str | None) -> str | None:
    """Return the API key: the argument, or else the environment variable `RANKDUEL_KEY`."""
    return os.environ.get(KEY_VARIABLE) or None if key is None else key


def _route(call: str, path: str, results: str) -> Route:
    return Route(call, path, _MAX_ITEMS_PER_BATCH, b"[", b"]", results)


def _abandon(views: ClientPageViews, outbox: Outbox) -> None:
    """Send what is left of a client that was garbage-collected."""
    views.abandon()
    outbox.abandon()


def _seconds(name: str, value: float, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name} must be a number of seconds from {least:g} to {most:g}, got {value!r}")
    return float(value)


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _forked() -> None:
    for client in list(_clients):
        client._forked()


def _ended() -> None:
    """Flush and close all clients when the program exits. They send in parallel, so this waits for the slowest only."""
    began, clients = monotonic(), list(_clients)
    for client in clients:
        client._views.close()
    for client in clients:
        client.flush(max(0.0, began + client.exit_timeout - monotonic()))
    for client in clients:
        client.close(0)


os.register_at_fork(after_in_child=_forked)
atexit.register(_ended)
