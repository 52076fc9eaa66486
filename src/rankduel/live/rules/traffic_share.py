"""Traffic share: which clients or queries take part in duels.

It is one of the reasons for the baseline. `DuelIssuer` in live/runtime/issuing.py checks all of them.
"""

from hashlib import blake2b

from rankduel.live.rules.validation import number

__all__ = ["in_share"]


def in_share(share: float, salt: str, client_or_query: str) -> bool:
    """Whether a client, or a query without a known client, is in the share of the traffic that takes part in duels.

    The result is always the same for the same arguments. A client that is in a share is also in every larger share.
    Tournaments have different salts, so they choose different clients.

    >>> [client for client in "abcdefgh" if in_share(0.25, "home-search", client)]
    ['d']
    >>> [client for client in "abcdefgh" if in_share(0.5, "home-search", client)]
    ['d', 'g']
    """
    if number("share", share) > 1:
        raise ValueError(f"share must be a number from 0 to 1, got {share!r}")
    key = blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    identity = client_or_query.encode("utf-8", "surrogatepass")
    digest = blake2b(identity, key=key, digest_size=8, person=b"rankduel share").digest()
    return (int.from_bytes(digest) >> 11) * 2.0**-53 < share  # 53 bits: below 1, and exact as a float
