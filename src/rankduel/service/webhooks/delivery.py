"""Deliver the messages of one webhook, in a thread of its own.

The storage has a cursor for each webhook and tournament: the last event that was delivered. It moves after the receiver
has accepted a message. So a message that a crash interrupts is sent again, with the same id.
"""

import logging
import random
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from rankduel.live import LocalTournament, Storage
from rankduel.live.runtime.clock import now
from rankduel.service.webhooks.bodies import body_of
from rankduel.service.webhooks.messages import Message, message_id, messages_after
from rankduel.service.webhooks.sender import Response, Sender
from rankduel.service.webhooks.settings import WebhookSettings

__all__ = ["Delivery", "DeliveryStatus", "retry_seconds"]

POLL_SECONDS = 1.0
GIVE_UP_SECONDS = 3 * 86_400.0  # after an event
_LAST_LEADER_SECONDS = 120.0  # for so long, the last leader reports health: the shared storage may be away for all
_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS = 2.0, 3600.0  # at most, with jitter at least half of it
_LOG_INTERVAL_SECONDS = 60.0  # repeated failures of a thread are logged at most this often
_log = logging.getLogger("rankduel.service")


@dataclass(slots=True)
class DeliveryStatus:
    """The state of a webhook in this process. In processes that do not deliver, all numbers are 0."""

    name: str
    delivered: int = 0  # accepted messages
    failed: int = 0  # failed attempts
    given_up: int = 0  # messages that were not accepted within three days
    pending: int = 0  # messages that wait for their next attempt
    problem: str | None = None  # of the last attempt; None if it succeeded


@dataclass(slots=True)
class _Attempts:
    failures: int = 0  # in a row
    due: float = 0.0  # the next attempt


@dataclass(slots=True)
class _Queue:
    """The messages about events of a tournament."""

    tournament: LocalTournament
    number: int  # the cursor: of the last event that was delivered or skipped
    pending: int = 0
    attempts: _Attempts = field(default_factory=_Attempts)


@dataclass(slots=True)
class _Light:
    """The latest change of the health light of a tournament."""

    id: str
    message: Message
    attempts: _Attempts = field(default_factory=_Attempts)


class Delivery:
    """Delivers the messages of one webhook. Messages about events are sent in order within a tournament."""

    def __init__(
        self,
        hook: WebhookSettings,
        storage: Storage,
        tournaments: Callable[[], Mapping[str, LocalTournament]],
        public_url: str = "",
    ) -> None:
        self.hook = hook
        self.status = DeliveryStatus(hook.name)
        self._storage, self._tournaments, self._public_url = storage, tournaments, public_url
        self._fact = f"webhook {hook.name}"
        self._sender = Sender(hook)
        self._queues: dict[str, _Queue] = {}
        self._lights: dict[str, _Light] = {}
        self._lock = threading.Lock()  # held while `_lights` is changed
        self._started = now()
        self._since: float | None = None  # when the webhook was first configured; older events are not sent
        self._led_at = -_LAST_LEADER_SECONDS
        self._logged = -_LOG_INTERVAL_SECONDS
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"rankduel webhook {hook.name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the current request. Do not wait for the thread."""
        self._closing.set()
        self._sender.abort()

    def join(self, timeout: float) -> None:
        """Wait for the end of the thread."""
        self._thread.join(timeout)

    def report_health(self, message: Message) -> None:
        """Queue a change of a health light. It replaces an earlier one of this tournament that is not delivered yet."""
        if monotonic() - self._led_at < _LAST_LEADER_SECONDS:
            with self._lock:
                self._lights[message.tournament] = _Light(f"msg_{secrets.token_hex(16)}", message)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self.run_due()
            except Exception as error:  # the thread must survive any failure
                if not self._closing.is_set() and monotonic() - self._logged >= _LOG_INTERVAL_SECONDS:
                    self._logged = monotonic()
                    _log.warning("a webhook has failed", extra={"webhook": self.hook.name, "error": repr(error)})
            self._closing.wait(POLL_SECONDS)

    def run_due(self) -> None:
        """Send everything that is due, if this process leads: of all processes with this webhook, one delivers."""
        with self._lock:
            lights = dict(self._lights)
        for name, light in lights.items():
            self._send_light(name, light)
        if self._storage.leads(f"\n{self._fact}"):  # not the name of a tournament
            self._led_at = monotonic()
            self._send_events()
        else:
            self._queues.clear()  # the leader moves the cursors
        self.status.pending = len(self._lights) + sum(queue.pending for queue in self._queues.values())

    def _send_light(self, name: str, light: _Light) -> None:
        if self._is_due(light.attempts) and self._sent(light.attempts, light.id, light.message):
            with self._lock:
                if self._lights[name] is light:
                    del self._lights[name]

    def _send_events(self) -> None:
        if self._since is None:
            self._since = self._first_seen()
        tournaments = dict(self._tournaments())
        for name in self._queues.keys() - tournaments.keys():
            del self._queues[name]
        for name, t in sorted(tournaments.items()):
            queue = self._queues.get(name)
            if queue is None or queue.tournament is not t:
                queue = self._queues[name] = _Queue(t, self._stored_cursor(name))
            if t.changed_at > queue.number and self._is_due(queue.attempts):
                self._send_events_of(t, queue, self._since)

    def _send_events_of(self, t: LocalTournament, queue: _Queue, since: float) -> None:
        messages, upto = messages_after(t, queue.number, since)
        wanted = [message for message in messages if self.hook.wants(message.kind, t.name)]
        queue.pending = len(wanted)
        for message in wanted:
            if not self._sent(queue.attempts, message_id(self._storage.secret, self.hook.name, message), message):
                return
            queue.pending -= 1
            queue.number = message.event or 0
            self._store_cursor(queue)
        queue.number = upto
        if len(wanted) < len(messages):  # other kinds are skipped for good, also if the webhook wants them later
            self._store_cursor(queue)

    # Attempts

    def _is_due(self, attempts: _Attempts) -> bool:
        return monotonic() >= attempts.due and not self._closing.is_set()

    def _sent(self, attempts: _Attempts, id: str, message: Message) -> bool:
        """Send a message. Return whether it is done with: accepted or given up."""
        response = self._sender.send(id, body_of(message, self.hook.format, self._public_url))
        if response.problem is None:
            self.status.problem, attempts.failures = None, 0
            self.status.delivered += 1
            return True
        if self._closing.is_set():  # which has ended the request
            return False
        self._note_failure(attempts, message, response)
        if now() - message.time <= GIVE_UP_SECONDS:
            return False
        attempts.failures, attempts.due = 0, 0.0
        self.status.given_up += 1
        _log.error("a webhook message is given up", extra=self._described(message, response))
        return True

    def _note_failure(self, attempts: _Attempts, message: Message, response: Response) -> None:
        attempts.failures += 1
        self.status.failed += 1
        self.status.problem = response.problem
        seconds = max(retry_seconds(attempts.failures), response.retry_after)
        attempts.due = monotonic() + seconds
        retry = {"attempt": attempts.failures, "retry_in": round(seconds, 1)}
        _log.warning("a webhook message was not accepted", extra=self._described(message, response) | retry)

    def _described(self, message: Message, response: Response) -> dict[str, object]:
        about = {"webhook": self.hook.name, "kind": message.kind, "tournament": message.tournament}
        return about | {"event": message.event, "error": response.problem}

    # Cursors

    def _first_seen(self) -> float:
        """Return when the webhook was first configured."""
        stored = self._storage.fact(self._fact)
        if stored is not None:
            return float(stored)
        self._storage.write_fact(self._fact, repr(self._started))
        return self._started

    def _stored_cursor(self, tournament: str) -> int:
        """Return the stored cursor. It is 0 if it belongs to a deleted tournament of the same name."""
        stored = self._storage.fact(f"{self._fact} {tournament}") or "0"
        number = int(stored.partition(" ")[0])
        return number if stored == self._cursor(tournament, number) else 0

    def _store_cursor(self, queue: _Queue) -> None:
        name = queue.tournament.name
        self._storage.write_fact(f"{self._fact} {name}", self._cursor(name, queue.number))

    def _cursor(self, tournament: str, number: int) -> str:
        """Return a cursor as it is stored: the number of the event, and its time."""
        return f"{number} {self._storage.event_time(tournament, number)!r}"


def retry_seconds(failures: int) -> float:
    """Return when to try again after some failures in a row: after 1 to 2 s, doubled up to an hour."""
    longest = min(_MAX_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2 ** min(failures - 1, 20))
    return random.uniform(longest / 2, longest)
