"""Bodies of webhook requests, for programs and for Slack."""

import json

from rankduel.service.webhooks.bodies import body_of
from rankduel.service.webhooks.messages import Message, message_id

DECIDED = Message("decided", "home & garden", 812, 1_700_000_000.25, "ltr is the best of 5 rankers.", "ltr")


def test_json() -> None:
    assert json.loads(body_of(DECIDED, "json", "https://duels.example")) == {
        "type": "tournament.decided",
        "timestamp": "2023-11-14T22:13:20.250Z",
        "data": {
            "tournament": "home & garden",
            "event": 812,
            "headline": "ltr is the best of 5 rankers.",
            "winner": "ltr",
            "tied": [],
            "by": None,
            "reason": None,
            "url": "https://duels.example/t/home%20%26%20garden",
        },
    }
    assert "url" not in json.loads(body_of(DECIDED, "json"))["data"]


def test_slack_never_sees_markup_of_names_and_reasons() -> None:
    """A reason such as <!channel> would otherwise call everybody, and <http://evil|Dashboard> look like our link."""
    bad = Message("paused", "a<b>&c", 7, 0.0, "Paused by anna: <!channel> <http://evil|Dashboard> & more.", by="anna")
    assert json.loads(body_of(bad, "slack")) == {
        "text": "a&lt;b&gt;&amp;c: Paused by anna: &lt;!channel&gt; &lt;http://evil|Dashboard&gt; &amp; more."
    }


def test_ids() -> None:
    """The id depends on the storage, the webhook and the event, and on nothing else."""
    id = message_id(b"secret", "ops", DECIDED)
    assert id == message_id(b"secret", "ops", DECIDED._replace(headline="as a later version puts it"))
    others = [
        message_id(b"another storage", "ops", DECIDED),
        message_id(b"secret", "chat", DECIDED),
        *(
            message_id(b"secret", "ops", other)
            for other in (
                DECIDED._replace(kind="paused"),
                DECIDED._replace(tournament="cart"),
                DECIDED._replace(event=813),
                DECIDED._replace(time=1.0),
            )
        ),
    ]
    assert len({id, *others}) == 7
