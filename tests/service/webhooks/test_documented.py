"""docs/webhooks.md is true: its settings are valid, its code verifies our requests, and its tables are complete."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from fences import ROOT, fences, only
from rankduel.cli.shared.config import read_config
from rankduel.service.http.response_schemas import Webhook
from rankduel.service.webhooks.bodies import body_of
from rankduel.service.webhooks.messages import Message
from rankduel.service.webhooks.sender import Sender
from rankduel.service.webhooks.settings import KINDS, WebhookSettings, new_secret
from service.webhooks.receiver import SECRET, Receiver

PAGE = ROOT / "docs" / "webhooks.md"


def first_cells(title: str) -> list[str]:
    """What stands in the first column of the tables of a section, in quotes."""
    section = PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [cell for row in rows for cell in re.findall(r"`([^`]+)`", row)]


def test_the_tables() -> None:
    assert sorted(first_cells("Kinds of messages")) == sorted(KINDS)
    assert first_cells("Settings") == [each.name for each in fields(WebhookSettings)]
    assert first_cells("When a message does not arrive")[:5] == list(Webhook.__struct_fields__[1:])


def test_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "rankduel.toml"
    hooks: list[WebhookSettings] = []
    for block in fences(PAGE):
        if block.info == "toml":
            path.write_text(block.text)
            hooks += read_config(path).webhooks
    assert [(hook.name, hook.format) for hook in hooks] == [("team-chat", "slack"), ("deploy", "json")]


def test_the_body() -> None:
    documented = json.loads(only(PAGE, "json").text)
    data = documented["data"]
    message = Message("decided", data["tournament"], data["event"], 1_777_886_467.313, data["headline"], data["winner"])
    assert json.loads(body_of(message, "json", "https://duels.example")) == documented
    text = json.loads(body_of(message._replace(tournament="home"), "slack"))["text"]
    assert text in " ".join(PAGE.read_text().split())


def test_the_code_that_verifies(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec(only(PAGE, "python").text, names)
    verify: Callable[[str, dict[str, str], bytes], bool] = names["verify"]
    assert Sender(WebhookSettings("ops", receiver.url, "HOOK_SECRET")).send("msg_1", b'{"a": 1}').problem is None
    (request,) = receiver.requests
    assert verify(SECRET, request.headers, request.raw)
    assert not verify(new_secret(), request.headers, request.raw)
    assert not verify(SECRET, request.headers, request.raw + b" ")
    assert not verify(SECRET, request.headers | {"webhook-id": "msg_2"}, request.raw)
    old = str(int(request.headers["webhook-timestamp"]) - 301)
    assert not verify(SECRET, request.headers | {"webhook-timestamp": old}, request.raw)
    sent = int(request.headers["webhook-timestamp"])
    monkeypatch.setattr(names["time"], "time", lambda: sent + 301.0)  # a copy that is sent again
    assert not verify(SECRET, request.headers, request.raw)
