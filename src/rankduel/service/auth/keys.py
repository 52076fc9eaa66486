"""API keys: who may do what. A key is shown once; what is stored is a hash."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from time import time as now
from typing import Self

from rankduel.live.storage.contract import KeyRow, Storage

__all__ = ["ANYBODY", "LOOPBACK", "SCOPES", "Key", "KeyRing", "new_key"]

SCOPES = ("ask", "tell", "ingest", "read", "admin")  # admin may do everything
_PREFIX = "rd"


@dataclass(frozen=True, slots=True)
class Key:
    """What a valid key may do."""

    id: str
    name: str  # who has it: the journal names it where an operator did something
    scopes: tuple[str, ...]
    digest: str

    def may(self, scope: str) -> bool:
        """Whether it has a scope.

        >>> Key("a", "site", ("ask",), "").may("tell")
        False
        """
        return scope in self.scopes or "admin" in self.scopes


def new_key(storage: Storage, name: str, scopes: Iterable[str]) -> tuple[KeyRow, str]:
    """Make a key; the second value is the whole of it, which nobody can show again.

    Only a hash of its secret is stored. The secret has 256 random bits, so nothing slower than SHA-256 is needed.
    """
    wanted = tuple(dict.fromkeys(scopes))
    for scope in wanted:
        if scope not in SCOPES:
            raise ValueError(f"unknown scope {scope!r}, expected some of {', '.join(SCOPES)}")
    if not wanted:
        raise ValueError(f"a key needs at least one scope of {', '.join(SCOPES)}")
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise ValueError(f"the name of a key must be 1 to 200 printable characters, got {name!r:.200}")
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = KeyRow(id, name, " ".join(wanted), _digest(secret), now())
    storage.add_key(key)
    return key, f"{_PREFIX}_{id}_{secret}"


class KeyRing:
    """The valid keys in memory, as they were stored when last looked at."""

    def __init__(self, stored: Iterable[KeyRow]) -> None:
        rows = list(stored)
        self.made = bool(rows)  # whether there ever was a key: if all are revoked, nobody comes in
        self._keys = {
            row.id: Key(row.id, row.name, tuple(row.scopes.split()), row.digest) for row in rows if row.revoked is None
        }

    @classmethod
    def of(cls, storage: Storage) -> Self:
        """The keys of a storage."""
        return cls(storage.keys())

    def known(self, id: str) -> Key | None:
        """The valid key of that id."""
        return self._keys.get(id)

    def find(self, text: str) -> Key | None:
        """The key that somebody has shown, or None. It takes the same time whatever is wrong with the secret."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        key = self._keys.get(id) if prefix == _PREFIX else None
        right = hmac.compare_digest(_digest(secret), _NO_DIGEST if key is None else key.digest)
        return key if right else None


ANYBODY = Key("", "anybody", (), "")  # where no key is needed
LOOPBACK = Key("", "loopback", ("admin",), "")  # whoever uses this machine, as long as there is no key


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


_NO_DIGEST = "0" * 64
