"""Tournaments that are kept elsewhere: at an address that begins with http there is a service, not a storage."""

from typing import Any

__all__ = ["SCHEMES", "elsewhere"]

# Who opens a tournament at an address of that scheme. `rankduel.client`, which stands above this room, enters itself.
SCHEMES: dict[str, Any] = {}


def elsewhere(storage: object, key: str | None = None) -> Any | None:
    """What has the face of `Tournament` for an address of a service; None if the storage is one for this process.

    >>> elsewhere("sqlite:///duels.db")
    >>> elsewhere("sqlite:///duels.db", key="rd_1_secret")
    Traceback (most recent call last):
    ValueError: a key is for the service at an http address, not for 'sqlite:///duels.db'
    """
    scheme = storage.partition("://")[0] if isinstance(storage, str) else ""
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    if scheme in ("http", "https"):
        raise ValueError(f"import rankduel.client first, to reach {storage!r}")
    if key is not None:
        raise ValueError(f"a key is for the service at an http address, not for {storage!r}")
    return None
