"""Settings of a webhook: its URL, its secret, and the events that it gets."""

import base64
import binascii
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self
from urllib.parse import urlsplit

from rankduel.service.addresses import is_loopback

__all__ = ["FORMATS", "KINDS", "WebhookSettings", "new_secret", "webhooks_from"]

KINDS = (
    *("decided", "guardrail", "paused", "started", "stopped", "rolled_out", "rolled_back", "archived"),
    "health",
)
FORMATS = ("json", "slack")
_MAX_HOOKS = 20  # each has a thread
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}")
_PREFIX = "whsec_"
_MIN_SECRET_BYTES, _MAX_SECRET_BYTES = 24, 64


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """A webhook. `name` identifies it in the log, in metrics and in the storage.

    >>> WebhookSettings("chat", "https://hooks.slack.com/services/T/B/x", format="slack").host
    'hooks.slack.com'
    >>> WebhookSettings("chat", "http://relay.example/", format="slack")
    Traceback (most recent call last):
    ValueError: url of the webhook 'chat' must be https://...; for http:// to another machine, set allow_http = true
    """

    name: str
    url: str
    secret_env: str | None = None  # environment variable with the secret that signs messages
    kinds: tuple[str, ...] = KINDS
    tournaments: tuple[str, ...] | None = None  # None: all
    format: str = "json"
    allow_http: bool = False

    def __post_init__(self) -> None:
        for name in ("kinds", "tournaments"):
            if isinstance(given := getattr(self, name), list):
                object.__setattr__(self, name, tuple(given))
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            allowed = "a letter or digit, then letters, digits and _ . -, at most 50 characters"
            raise ValueError(f"name of a webhook must be {allowed}, got {self.name!r}")
        if self.format not in FORMATS:
            raise self._wrong("format", f"{' or '.join(FORMATS)}, got {self.format!r}")
        if not isinstance(self.allow_http, bool):
            raise self._wrong("allow_http", f"true or false, got {self.allow_http!r}")
        self._check_url()
        self._check_lists()
        if self.secret_env is None and self.format != "slack":
            example = "the name of an environment variable with the secret; rankduel webhooks secret makes one"
            raise self._wrong("secret_env", example)
        if self.secret_env is not None and (not isinstance(self.secret_env, str) or not self.secret_env.isidentifier()):
            raise self._wrong("secret_env", "the name of an environment variable, not the secret itself")

    def _wrong(self, setting: str, expected: str) -> ValueError:
        return ValueError(f"{setting} of the webhook {self.name!r} must be {expected}")

    def _check_url(self) -> None:
        """Raise ValueError for a bad URL. It may contain a secret, so messages do not show it."""
        url = self.url
        try:
            parts = urlsplit(url if isinstance(url, str) and url.isascii() and url.isprintable() else "")
            valid = " " not in url and parts.port != 0
        except (ValueError, TypeError):
            valid = False
        if not valid or parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise self._wrong("url", "https://HOST/PATH, without a user")
        if parts.scheme == "http" and not (self.allow_http or is_loopback(parts.hostname)):
            raise self._wrong("url", "https://...; for http:// to another machine, set allow_http = true")

    def _check_lists(self) -> None:
        for name, values in (("kinds", self.kinds), ("tournaments", self.tournaments)):
            strings = isinstance(values, tuple) and all(isinstance(value, str) for value in values)
            if values is not None and not (strings and values):
                raise self._wrong(name, f"a list of at least one string, got {values!r}")
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise ValueError(
                f"unknown kind {unknown[0]!r} in kinds of the webhook {self.name!r}; known kinds: {', '.join(KINDS)}"
            )

    @property
    def host(self) -> str:
        """The host of the URL, for messages. The rest of the URL may be secret."""
        return urlsplit(self.url).hostname or ""

    def wants(self, kind: str, tournament: str) -> bool:
        """Whether the webhook gets events of a kind and a tournament."""
        return kind in self.kinds and (self.tournaments is None or tournament in self.tournaments)

    def secret(self) -> bytes | None:
        """Return the secret that signs messages, or None for no signature. Raise ValueError if it is missing."""
        if self.secret_env is None:
            return None
        given = os.environ.get(self.secret_env)
        if given is None:
            raise ValueError(f"the environment variable {self.secret_env} of the webhook {self.name!r} is not set")
        try:
            secret = base64.b64decode(given.removeprefix(_PREFIX), validate=True) if given.startswith(_PREFIX) else b""
        except binascii.Error:
            secret = b""
        if not _MIN_SECRET_BYTES <= len(secret) <= _MAX_SECRET_BYTES:
            expected = f"{_PREFIX} and {_MIN_SECRET_BYTES} to {_MAX_SECRET_BYTES} bytes in base64"
            raise ValueError(
                f"the environment variable {self.secret_env} of the webhook {self.name!r} must be {expected}; "
                "rankduel webhooks secret makes one"
            )
        return secret

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Make settings from a table of rankduel.toml."""
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                raise ValueError(f"unknown setting webhooks.{name}; expected {', '.join(known)}")
        for name in ("name", "url"):
            if name not in given:
                raise ValueError(f"webhooks.{name} is missing; each webhook needs a name and a url")
        return cls(**given)


def webhooks_from(tables: Sequence[Mapping[str, Any]]) -> tuple[WebhookSettings, ...]:
    """Make the settings of all webhooks from the tables `[[webhooks]]` of rankduel.toml."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"webhooks must be a list of tables, [[webhooks]], got {tables!r}")
    if len(tables) > _MAX_HOOKS:
        raise ValueError(f"there can be at most {_MAX_HOOKS} webhooks, got {len(tables)}")
    hooks = tuple(map(WebhookSettings.from_dict, tables))
    names = [hook.name for hook in hooks]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two webhooks have the name {name!r}; names must be unique")
    return hooks


def new_secret() -> str:
    """Return a new random secret.

    >>> len(new_secret()), new_secret()[:6]
    (50, 'whsec_')
    """
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
