"""Bodies of webhook requests: JSON for programs, or a text for Slack and compatible chats."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from rankduel.service.webhooks.messages import Message

__all__ = ["body_of", "test_message"]

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # no name may become a link or a mention


def body_of(message: Message, format: str, public_url: str = "") -> bytes:
    """Return the body of a request in a format.

    >>> message = Message("decided", "home", 812, 0.0, "ltr is the best of 5 rankers (1,300 duels).", "ltr")
    >>> body_of(message, "slack", "https://duels.example").decode()
    '{"text": "home: ltr is the best of 5 rankers (1,300 duels). <https://duels.example/t/home|Dashboard>"}'
    """
    url = f"{public_url}/t/{quote(message.tournament, safe='')}" if public_url and message.tournament else None
    fields = _for_slack(message, url) if format == "slack" else _for_programs(message, url)
    return json.dumps(fields).encode()


def _for_programs(message: Message, url: str | None) -> dict[str, Any]:
    time = datetime.fromtimestamp(message.time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    data: dict[str, Any] = {
        "tournament": message.tournament,
        "event": message.event,
        "headline": message.headline,
        "winner": message.winner,
        "tied": message.tied,
        "by": message.by,
        "reason": message.reason,
        **message.more,
    }
    if url is not None:
        data["url"] = url
    return {"type": f"tournament.{message.kind}", "timestamp": time, "data": data}


def _for_slack(message: Message, url: str | None) -> dict[str, str]:
    text = f"{message.tournament}: {message.headline}".translate(_ESCAPED)
    return {"text": text if url is None else f"{text} <{url}|Dashboard>"}


def test_message(time: float) -> Message:
    """Return the message that `rankduel webhooks test` sends."""
    return Message("test", "test", None, time, "This is a test of the webhook. Nothing has happened.")
