"""`Client`: ask and tell over HTTP for a search application; it never waits long and never fails."""

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
_MAX_ANSWER_BYTES = 64 * 1024  # to an ask: a duel has less than 4,000
_MAX_ITEM_BYTES = 256 * 1024
_MAX_ITEMS_PER_BATCH = 500
_ONE_ASK_REFUSED = (400, 409, 413, 422)  # statuses that say nothing about the next ask


class Client:
    """One tournament of a service, for an application that has users waiting.

    `ask` answers within `deadline` seconds, whatever the service or the network do: with a duel, or with `serve ==
    "baseline"`, which costs nothing while the service is known to be away. `tell`, `show` and `observe` return at
    once; a thread sends what they were given, in batches, again if need be. Up to `queue` items of `queue_bytes` bytes
    together wait in memory; what is more is dropped, and all that happens is counted in `counters`. A wrong argument
    raises, nothing else does. Any number of threads may use one object, and so may processes that are forked from this
    one.

    Parameters
    ----------
    url : where the service is, `http://host:8080` or `https://host`
    tournament : its name
    key : the API key, with the scopes `ask` and `tell`, and `ingest` for `observe`; by default `RANKDUEL_KEY` of the
        environment
    deadline : seconds, from 0.001 to 10
    baseline : what `first` and `second` are where there is no answer; by default empty
    queue : items that may wait to be sent, from 1
    queue_bytes : bytes that they may have together as JSON, from 262,144, which is the most that one item has
    exit_timeout : seconds that the end of the program may wait for what is not sent yet

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

    # In the path of a request

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """The two rankers that should meet for a query; the same query gets the same duel.

        If the service does not say so in time, `serve` is "baseline", and `why` is `deadline`, `unreachable`,
        `refused` or `resting` (it has failed just before, and was not asked).
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
        except Exception:  # an answer that cannot be understood: users see the baseline whatever it is
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
        """Who won a duel, or which documents were clicked on its page. False if that had to be dropped.

        `duel` is what `ask` has returned, or its ticket, or its id. Where there was no duel there is nothing to tell,
        and that is fine. Clicks are attributed by the service, as the tournament has declared.
        """
        told = outcome_or_clicks(duel, outcome, clicks, shown)
        item = None if told is None else tell_of(duel, told)
        return item is None or self._put(self._tells, item)

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> bool:
        """The page that a user has seen, by default what `duel.interleave` has made. False if it had to be dropped."""
        shown = show_of(duel, page)
        return shown is None or self._put(self._pages, shown)

    def observe(self, seen: Iterable[Signal | Shown]) -> bool:
        """What users did, by the id of their query, and which pages they saw. False if some had to be dropped.

        The key needs the scope `ingest`. A duel is decided by signals when its window closes, if its page was reported.
        """
        events = [event_of(one) for one in as_list("seen", seen)]
        dropped = sum(not self._put(self._events, event) for event in events)
        return dropped == 0

    def _put(self, route: Route, item: dict[str, object]) -> bool:
        text = encoded(item)
        if len(text) > _MAX_ITEM_BYTES:
            raise ValueError(f"{len(text)} bytes are too many to send: at most {_MAX_ITEM_BYTES}")
        return self._outbox.put(route, text)

    def _instead(self, why: str, counter: str) -> LiveDuel:
        """The baseline."""
        self._tally.add(asks=1, **{counter: 1})
        method = method_of("team_draft")
        return LiveDuel(None, self.baseline, self.baseline, 0, 0.0, method, serve="baseline", why=why)

    # Beside it

    @property
    def counters(self) -> Counters:
        """What has happened so far in this process."""
        return self._tally.read()

    @property
    def waiting(self) -> int:
        """How many items are queued and not sent yet."""
        return len(self._outbox)

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until everything is sent, for so many seconds at most; whether it is."""
        return self._outbox.flush(_seconds("timeout", timeout, 0, 1e6))

    def close(self, timeout: float = 2.0) -> None:
        """Send what is left, for so many seconds at most, and let go of the connections."""
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
        """In a child process: what is queued and who is connected is the parent's."""
        self._tally = Tally()
        self._breaker = Breaker()
        self._transport.forked()
        self._outbox.forked(self._tally)


def key_of(key: str | None) -> str | None:
    """The API key: as given, or of the environment."""
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
    """The end of the program. All clients send at the same time, so it waits for the slowest one only."""
    began, clients = monotonic(), list(_clients)
    for client in clients:
        client.flush(max(0.0, began + client.exit_timeout - monotonic()))
    for client in clients:
        client.close(0)


os.register_at_fork(after_in_child=_forked)
atexit.register(_ended)
