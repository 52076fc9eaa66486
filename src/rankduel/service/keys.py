"""API keys: who may do what. A key is shown once; what is stored is a hash."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from time import time as now
from typing import Protocol, Self

__all__ = ["SCOPES", "Key", "KeyRing", "KeyStore", "new_key"]

SCOPES = ("ask", "tell", "ingest", "read", "admin")  # admin may do everything
_PREFIX = "rd"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key: everything but its secret."""

    id: str
    name: str  # who has it: the journal names it where an operator did something
    scopes: tuple[str, ...]
    digest: str  # SHA-256 of the secret; it has 256 random bits, so nothing slower is needed
    made: float
    revoked: float | None = None

    def may(self, scope: str) -> bool:
        """Whether it has a scope.

        >>> Key("a", "site", ("ask",), "", 0.0).may("tell")
        False
        """
        return scope in self.scopes or "admin" in self.scopes


class KeyStore(Protocol):
    """Where keys are kept: beside the tournaments."""

    def keys(self) -> list[Key]:
        """All keys, those revoked too."""

    def add_key(self, key: Key) -> None:
        """Keep a new one; on return it is durable."""

    def revoke_key(self, id: str, time: float) -> bool:
        """It is not valid any more; False if there is no such key that was."""


def new_key(store: KeyStore, name: str, scopes: Iterable[str]) -> tuple[Key, str]:
    """Make a key; the second value is the whole of it, which nobody can show again."""
    wanted = tuple(dict.fromkeys(scopes))
    for scope in wanted:
        if scope not in SCOPES:
            raise ValueError(f"unknown scope {scope!r}, expected some of {', '.join(SCOPES)}")
    if not wanted:
        raise ValueError(f"a key needs at least one scope of {', '.join(SCOPES)}")
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise ValueError(f"the name of a key must be 1 to 200 printable characters, got {name!r:.200}")
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = Key(id, name, wanted, _digest(secret), now())
    store.add_key(key)
    return key, f"{_PREFIX}_{id}_{secret}"


class KeyRing:
    """The valid keys in memory, as they were stored when last looked at."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = {key.id: key for key in keys if key.revoked is None}

    @classmethod
    def of(cls, store: KeyStore) -> Self:
        """The keys of a store."""
        return cls(store.keys())

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, text: str) -> Key | None:
        """The key that somebody has shown, or None. It takes the same time whatever is wrong with the secret."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        key = self._keys.get(id) if prefix == _PREFIX else None
        right = hmac.compare_digest(_digest(secret), _NO_DIGEST if key is None else key.digest)
        return key if right else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


_NO_DIGEST = "0" * 64
