"""Traffic share: which clients or queries may see duels."""

from hashlib import blake2b

from rankduel.live.rules.validation import number

__all__ = ["in_share"]


def in_share(share: float, salt: str, client_or_query: str) -> bool:
    """Whether a client (or a query, where no client is known) is in the share of the traffic that may see duels.

    The same answer whenever it is asked; and whoever is in at a share is in at every larger one. Another `salt` is
    another choice, so that two tournaments do not choose the same clients.

    >>> [client for client in "abcdefgh" if in_share(0.25, "home-search", client)]
    ['d']
    >>> [client for client in "abcdefgh" if in_share(0.5, "home-search", client)]
    ['d', 'g']
    """
    if number("share", share) > 1:
        raise ValueError(f"share must be at most 1, got {share!r}")
    key = blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    who = client_or_query.encode("utf-8", "surrogatepass")
    drawn = blake2b(who, key=key, digest_size=8, person=b"rankduel share").digest()
    return (int.from_bytes(drawn) >> 11) * 2.0**-53 < share  # 53 bits: below 1, and none is rounded
