"""API keys and their scopes. A key is shown once. Only a hash of its secret is stored."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from time import time as now
from typing import Self

from rankduel.live.storage.contract import KeyRow, Storage

__all__ = ["ANONYMOUS", "LOOPBACK", "SCOPES", "ApiKeys", "Key", "new_key"]

SCOPES = ("ask", "tell", "ingest", "read", "admin")  # admin includes all others
_PREFIX = "rd"


@dataclass(frozen=True, slots=True)
class Key:
    """A valid API key."""

    id: str
    name: str  # recorded in the journal with each change
    scopes: tuple[str, ...]
    digest: str

    def may(self, scope: str) -> bool:
        """Whether the key has a scope.

        >>> Key("a", "site", ("ask",), "").may("tell")
        False
        """
        return scope in self.scopes or "admin" in self.scopes

    @property
    def is_public(self) -> bool:
        """Whether the key is safe to publish in web pages: its only scope is ingest."""
        return self.scopes == ("ingest",)


def new_key(storage: Storage, name: str, scopes: Iterable[str]) -> tuple[KeyRow, str]:
    """Create an API key. Return its stored row and the full key, which cannot be shown again.

    Only a hash of the secret is stored. The secret has 256 random bits, so a fast hash such as SHA-256 is safe.
    """
    wanted = tuple(dict.fromkeys(scopes))
    for scope in wanted:
        if scope not in SCOPES:
            raise ValueError(f"unknown scope {scope!r}; known scopes: {', '.join(SCOPES)}")
    if not wanted:
        raise ValueError(f"a key needs at least one scope; known scopes: {', '.join(SCOPES)}")
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise ValueError(f"the name of a key must be 1 to 200 printable characters, got {name!r:.200}")
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = KeyRow(id, name, " ".join(wanted), _digest(secret), now())
    storage.add_key(key)
    return key, f"{_PREFIX}_{id}_{secret}"


class ApiKeys:
    """In-memory copy of the valid API keys of a storage."""

    def __init__(self, stored: Iterable[KeyRow]) -> None:
        rows = list(stored)
        self.required = bool(rows)  # from the first key on: if all keys are revoked, every request is refused
        self._keys = {
            row.id: Key(row.id, row.name, tuple(row.scopes.split()), row.digest) for row in rows if row.revoked is None
        }

    @classmethod
    def load(cls, storage: Storage) -> Self:
        """Read the keys of a storage."""
        return cls(storage.keys())

    def by_id(self, id: str) -> Key | None:
        """Return the valid key with an id."""
        return self._keys.get(id)

    def verify(self, text: str) -> Key | None:
        """Return the key with this full text, or None. The comparison of secrets takes constant time."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        key = self._keys.get(id) if prefix == _PREFIX else None
        correct = hmac.compare_digest(_digest(secret), _NO_DIGEST if key is None else key.digest)
        return key if correct else None


ANONYMOUS = Key("", "anonymous", (), "")  # for routes that need no key
LOOPBACK = Key("", "loopback", ("admin",), "")  # clients on this machine, until the first key is created


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


_NO_DIGEST = "0" * 64
