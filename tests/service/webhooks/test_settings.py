"""Settings of webhooks: what is wrong is said in one line, which never shows the URL or the secret."""

import base64
from pathlib import Path
from typing import Any

import pytest

from rankduel.cli.shared.config import read_config
from rankduel.service.webhooks.settings import KINDS, WebhookSettings, new_secret, webhooks_from

HOOK: dict[str, Any] = {"name": "chat", "url": "https://hooks.example/T/secret", "secret_env": "HOOK_SECRET"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {"name": "my hook"},
            "name of a webhook must be a letter or digit, then .*, at most 50 characters, got 'my hook'",
        ),
        ({"name": 7}, "got 7"),
        (
            {"url": "http://hooks.example/secret"},
            "url .* must be https://...; .* another machine, set allow_http = true",
        ),
        ({"url": "ftp://hooks.example/secret"}, "url of the webhook 'chat' must be https://HOST/PATH, without a user"),
        ({"url": "https://anna:secret@hooks.example/"}, "must be https://HOST/PATH, without a user"),
        ({"url": "https:///secret"}, "must be https://HOST/PATH"),
        ({"url": "https://hooks.example:99999/secret"}, "must be https://HOST/PATH"),
        ({"url": "https://hooks.example/secret\r\nX: y"}, "must be https://HOST/PATH"),
        ({"url": "https://hooks.example/a secret"}, "must be https://HOST/PATH"),
        ({"url": ["https://hooks.example/secret"]}, "must be https://HOST/PATH"),
        ({"format": "xml"}, "format of the webhook 'chat' must be json or slack, got 'xml'"),
        ({"allow_http": "yes"}, "allow_http of the webhook 'chat' must be true or false, got 'yes'"),
        ({"kinds": []}, r"kinds of the webhook 'chat' must be a list of at least one string, got \(\)"),
        ({"kinds": "decided"}, "kinds .* must be a list of at least one string, got 'decided'"),
        (
            {"kinds": ["decide"]},
            "unknown kind 'decide' in kinds of the webhook 'chat'; known kinds: decided, guardrail",
        ),
        ({"tournaments": [7]}, r"tournaments of the webhook 'chat' must be a list of at least one string, got \(7,\)"),
        ({"secret_env": None}, "secret_env of the webhook 'chat' must be .*; rankduel webhooks secret makes one"),
        ({"secret_env": "whsec_c2VjcmV0+/="}, "must be the name of an environment variable, not the secret itself"),
        ({"secret": "x"}, "unknown setting webhooks.secret; expected name, url, secret_env, kinds"),
    ],
)
def test_wrong_settings(changes: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error) as raised:
        webhooks_from([HOOK | changes])
    assert "secret\r" not in str(raised.value)
    assert "/secret" not in str(raised.value)
    assert "c2VjcmV0" not in str(raised.value)


def test_wrong_tables() -> None:
    for name in ("name", "url"):
        with pytest.raises(ValueError, match=f"webhooks.{name} is missing; each webhook needs a name and a url"):
            webhooks_from([{key: value for key, value in HOOK.items() if key != name}])
    with pytest.raises(ValueError, match="two webhooks have the name 'chat'; names must be unique"):
        webhooks_from([HOOK, HOOK])
    with pytest.raises(ValueError, match=r"webhooks must be a list of tables, \[\[webhooks\]\], got \{"):
        webhooks_from(HOOK)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there can be at most 20 webhooks, got 21"):
        webhooks_from([HOOK | {"name": f"chat-{number}"} for number in range(21)])


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://localhost/", "http://[::1]:8080/x", "https://10.0.0.5:8443/relay?a=b"]
)
def test_right_urls(url: str) -> None:
    assert WebhookSettings("chat", url, format="slack").url == url
    assert WebhookSettings("chat", "http://10.0.0.5/", format="slack", allow_http=True).host == "10.0.0.5"


def test_what_a_hook_gets() -> None:
    (all_kinds, some) = webhooks_from([HOOK, HOOK | {"name": "some", "kinds": ["decided"], "tournaments": ["home"]}])
    assert all(all_kinds.wants(kind, "any") for kind in KINDS)
    assert [some.wants(*asked) for asked in (("decided", "home"), ("paused", "home"), ("decided", "cart"))] == [
        True,
        False,
        False,
    ]


def test_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = WebhookSettings(**HOOK)
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    with pytest.raises(ValueError, match="the environment variable HOOK_SECRET of the webhook 'chat' is not set"):
        hook.secret()
    for wrong in ("", "whsec_", "whsec_????", "whsec_" + base64.b64encode(b"short").decode(), new_secret()[6:]):
        monkeypatch.setenv("HOOK_SECRET", wrong)
        with pytest.raises(
            ValueError, match="must be whsec_ and 24 to 64 bytes in base64; rankduel webhooks secret"
        ) as e:
            hook.secret()
        assert not wrong or wrong not in str(e.value).replace("whsec_ and", "")
    monkeypatch.setenv("HOOK_SECRET", "whsec_" + base64.b64encode(bytes(range(32))).decode())
    assert hook.secret() == bytes(range(32))
    assert WebhookSettings("chat", HOOK["url"], format="slack").secret() is None


def test_the_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "rankduel.toml"
    path.write_text(
        'storage = "sqlite:///duels.db"\n[service]\npublic_url = "https://duels.example/"\n'
        '[[webhooks]]\nname = "ops"\nurl = "https://ops.example/duels"\nsecret_env = "OPS"\n'
        'kinds = ["guardrail", "health"]\n'
        '[[webhooks]]\nname = "chat"\nurl = "https://hooks.slack.com/x"\nformat = "slack"\ntournaments = ["home"]\n'
    )
    config = read_config(path)
    assert config.service.public_url == "https://duels.example"
    assert config.webhooks == (
        WebhookSettings("ops", "https://ops.example/duels", "OPS", ("guardrail", "health")),
        WebhookSettings("chat", "https://hooks.slack.com/x", format="slack", tournaments=("home",)),
    )
    path.write_text('[[webhooks]]\nname = "ops"\nlink = "https://ops.example"\n')
    with pytest.raises(ValueError, match=r"rankduel.toml: unknown setting webhooks.link; expected name, url"):
        read_config(path)
    path.write_text('[service]\npublic_url = "duels.example"\n')
    with pytest.raises(ValueError, match=r"public_url must be https://HOST or http://HOST, got 'duels.example'"):
        read_config(path)
