"""Who takes part."""

import secrets
from hashlib import blake2b

__all__ = ["chosen"]


def chosen(share: float, salt: str, who: str | None) -> bool:
    """Whether a client or query is in the share of the traffic that duels; who is in a share is in every larger one."""
    digest = blake2b(who.encode(), key=salt.encode(), digest_size=7).digest() if who else secrets.token_bytes(7)
    return int.from_bytes(digest, "little") < share * 2**56
