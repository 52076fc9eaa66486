"""Client ids are stored as hashes with the salt of the tournament, so that nobody can look up a client by guessing."""

from hashlib import blake2b

from rankduel.live.rules.validation import check_name

__all__ = ["hash_client"]


def hash_client(client_id: str, salt: bytes) -> str:
    """Return the hash of a client id. Raise ValueError for an invalid id.

    >>> hash_client("u-7", b"salt")
    '8646863c192037de'
    """
    return blake2b(check_name("client_id", client_id).encode(), key=salt, digest_size=8).hexdigest()
