"""Messages of webhooks: what happened, by an event of the journal or a change of the health light."""

import hmac
from collections.abc import Iterator
from typing import Any, NamedTuple

from rankduel.live import Event, LocalTournament
from rankduel.live.results import Decided
from rankduel.service.webhooks.settings import KINDS

__all__ = ["Message", "message_id", "messages_after"]

_MAX_EVENTS = 1_000  # of a journal, read at once
_DONE = {
    "paused": "Paused",
    "started": "Started",
    "stopped": "Stopped",
    "rolled_out": "Rolled out",
    "rolled_back": "Rolled back",
    "archived": "Archived",
}


class Message(NamedTuple):
    """A message to all webhooks that want its kind. `event` is the number of the event; None for the health light."""

    kind: str
    tournament: str
    event: int | None
    time: float
    headline: str  # one sentence
    winner: str | None = None
    tied: tuple[str, ...] = ()
    by: str | None = None
    reason: str | None = None
    more: dict[str, Any] = {}  # noqa: RUF012 - never changed; fields of this kind only


def messages_after(t: LocalTournament, number: int, since: float) -> tuple[list[Message], int]:
    """Return the messages of the events of a journal after an event number and a time, in order.

    The second result is the event number up to which this is complete.
    """
    upto, decisions = t.decisions()
    changes = t.storage.changes_after(t.name, number, _MAX_EVENTS)
    if len(changes) == _MAX_EVENTS:
        upto = min(upto, changes[-1].number)
    found = [*_of_changes(t.name, changes), *(_of_decision(t.name, made) for made in decisions)]
    new = [one for one in found if one.event is not None and number < one.event <= upto and one.time > since]
    return sorted(new, key=lambda one: one.event or 0), upto


def _of_decision(tournament: str, made: Decided) -> Message:
    return Message("decided", tournament, made.number, made.time, made.headline, made.winner, made.tied)


def _of_changes(tournament: str, changes: list[Event]) -> Iterator[Message]:
    for event in changes:
        if event.kind not in KINDS:
            continue
        by, reason = event.body.get("by") or None, event.body.get("reason") or None
        kind = "guardrail" if event.kind == "paused" and by == "guardrail" else event.kind
        more = {name: event.body[name] for name in ("ranker", "share") if event.body.get(name) is not None}
        headline = _headline(event.kind, by, reason, more)
        yield Message(kind, tournament, event.number, event.time, headline, by=by, reason=reason, more=more)


def _headline(kind: str, by: str | None, reason: str | None, more: dict[str, Any]) -> str:
    """Put an action of an operator or a guardrail into words.

    >>> _headline("paused", "guardrail", "error on 40 of 400 pages", {})
    'Paused by a guardrail: error on 40 of 400 pages.'
    >>> _headline("rolled_out", "anna", None, {"ranker": "ltr", "share": 0.05})
    'Rolled out ltr to 5 % of the traffic, by anna.'
    """
    text = _DONE[kind]
    if "ranker" in more:
        text += f" {more['ranker']}"
    if "share" in more:
        text += f" to {100 * more['share']:g} % of the traffic,"
    if by is not None:
        text += " by a guardrail" if by == "guardrail" else f" by {by}"
    return f"{text}: {reason.rstrip('.')}." if reason else f"{text.rstrip(',')}."


def message_id(secret: bytes, hook: str, message: Message) -> str:
    """Return the id of a message about an event of a journal. It is the same in each attempt and in each process.

    `secret` belongs to the storage, so that two storages never make the same id.
    """
    text = "\n".join((hook, message.kind, message.tournament, str(message.event), repr(message.time)))
    return f"msg_{hmac.new(secret, text.encode(), 'sha256').hexdigest()[:32]}"
