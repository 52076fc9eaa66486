"""`Client`: ask and tell over HTTP for search applications, with a deadline for every ask."""

import atexit
import os
import weakref
from collections.abc import Hashable, Iterable
from time import monotonic
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from rankduel.client.breaker import Breaker
from rankduel.client.counters import Counters, Tally
from rankduel.client.outbox import Outbox, Route
from rankduel.client.transport import Failure, Transport
from rankduel.client.wire import (
    duel_from,
    encoded,
    event_of,
    method_of,
    path_of,
    query_of,
    show_of,
    tell_of,
)
from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel
from rankduel.live.results import outcome_or_clicks
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.validation import as_list, check_name, whole
from rankduel.types import Outcome

__all__ = ["Client", "key_of"]

KEY_VARIABLE = "RANKDUEL_KEY"  # the environment variable with the API key
_MAX_ANSWER_BYTES = 64 * 1024  # of the response to an ask: a duel has less than 4,000
_MAX_ITEM_BYTES = 256 * 1024
_MAX_ITEMS_PER_BATCH = 500
_ONE_ASK_REFUSED = (400, 409, 413, 422)  # statuses that reject one ask and say nothing about the next one


class Client:
    """A tournament of a service, for applications with waiting users.

    `ask` returns within `deadline` seconds, even if the service or the network is down. It returns a duel, or the
    baseline (`serve == "baseline"`). While the circuit breaker is open, it returns the baseline without a request.

    `tell`, `show` and `observe` return at once. A background thread sends their items in batches and retries failed
    batches. At most `queue` items with `queue_bytes` bytes in total wait in memory. Further items are dropped.
    `counters` counts every item, dropped ones included.

    Only invalid arguments raise exceptions. Threads may share one object, and so may forked processes.

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
    ) -> None:
        self.tournament = check_name("tournament", tournament)
        self.deadline = _seconds("deadline", deadline, 0.001, 10)
        self.baseline = "" if baseline is None else check_name("baseline", baseline)
        whole("queue", queue, at_least=1)
        whole("queue_bytes", queue_bytes, at_least=_MAX_ITEM_BYTES)
        self.exit_timeout = _seconds("exit_timeout", exit_timeout, 0, 60)
        self._transport = Transport(url, key_of(key))
        self._tally = Tally()
        self._breaker = Breaker()
        self._outbox = Outbox(self._transport, self._tally, queue, queue_bytes)
        self._ask = path_of(tournament, "ask")
        self._tells = Route(path_of(tournament, "tell"), _MAX_ITEMS_PER_BATCH, b"[", b"]", "receipts")
        self._pages = Route(path_of(tournament, "show"), _MAX_ITEMS_PER_BATCH, b"[", b"]", "statuses")
        self._events = Route(
            f"/v1/events?{urlencode({'tournament': tournament})}", _MAX_ITEMS_PER_BATCH, b"[", b"]", "statuses"
        )
        self._closed = False
        weakref.finalize(self, self._outbox.abandon).atexit = False
        _clients.add(self)

    # Calls while a user waits

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """Get the two rankers to compare for a query. The same query gets the same duel.

        Without a valid response in time, `serve` is "baseline", and `why` is `deadline`, `unreachable`, `refused` or
        `resting` (the circuit breaker is open, so no request was made).
        """
        due = monotonic() + self.deadline
        body = encoded(query_of(query_id, client_id))
        if self._closed or not self._breaker.allows():
            return self._instead("resting", "rested")
        try:
            answer = self._transport.call("POST", self._ask, body, due=due, largest=_MAX_ANSWER_BYTES)
            duel = duel_from(answer.value) if answer.status == 200 else None
        except Failure as failure:
            self._breaker.failed()
            return self._instead("deadline", "late") if failure.late else self._instead("unreachable", "failed")
        except Exception:  # an invalid response: users see the baseline
            self._breaker.failed()
            return self._instead("unreachable", "failed")
        if duel is not None:
            self._breaker.answered()
            self._tally.add(asks=1, answered=1)
            return duel
        if answer.status not in _ONE_ASK_REFUSED:
            self._breaker.failed(answer.retry_after)
        return self._instead("refused", "refused") if answer.status < 500 else self._instead("unreachable", "failed")

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
        text = encoded(item)
        if len(text) > _MAX_ITEM_BYTES:
            raise ValueError(f"an item must have at most {_MAX_ITEM_BYTES} bytes as JSON, got {len(text)}")
        return self._outbox.put(route, text)

    def _instead(self, why: str, counter: str) -> LiveDuel:
        """Count an ask without a duel, and return the baseline."""
        self._tally.add(asks=1, **{counter: 1})
        method = method_of("team_draft")
        return LiveDuel(None, self.baseline, self.baseline, 0, 0.0, method, serve="baseline", why=why)

    # Other calls

    @property
    def counters(self) -> Counters:
        """The counters of this process so far."""
        return self._tally.read()

    @property
    def waiting(self) -> int:
        """The number of items that are queued and not sent yet."""
        return len(self._outbox)

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until everything is sent, at most `timeout` seconds. Return whether it is."""
        return self._outbox.flush(_seconds("timeout", timeout, 0, 1e6))

    def close(self, timeout: float = 2.0) -> None:
        """Send the queued items, for at most `timeout` seconds, and close the connections."""
        self._closed = True
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
        self._breaker = Breaker()
        self._transport.forked()
        self._outbox.forked(self._tally)


def key_of(key: str | None) -> str | None:
    """Return the API key: the argument, or else the environment variable `RANKDUEL_KEY`."""
    return os.environ.get(KEY_VARIABLE) or None if key is None else key


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
        client.flush(max(0.0, began + client.exit_timeout - monotonic()))
    for client in clients:
        client.close(0)


os.register_at_fork(after_in_child=_forked)
atexit.register(_ended)
