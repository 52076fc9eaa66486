"""Tickets: a duel that vouches for itself, so that it can be told even if a crash has swallowed the ask."""

import hmac
from binascii import a2b_base64, b2a_base64
from functools import lru_cache
from hashlib import sha256
from struct import Struct

from rankduel.live.duels import DuelRow

__all__ = ["read_ticket", "ticket_of"]

_MAC = 16  # bytes of HMAC-SHA256: 128 bits
_LONGEST = 2_000  # characters of a ticket
_NUMBERS = Struct("<QQIIddB")  # session, number, first, second, issued, expires, bytes of the next
_ODDS = Struct("<dd")  # the propensities, where there are some
_SAFE, _PLAIN = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")  # base64 for addresses, and back


def ticket_of(row: DuelRow, tournament: str, secret: bytes) -> str:
    """The ticket of a duel of a tournament.

    >>> row = DuelRow(1, 1, "q", None, 4, 2, None, None, issued=0.0, expires=60.0)
    >>> ticket = ticket_of(row, "search", b"secret")
    >>> read_ticket(ticket, "search", b"secret") == row
    True
    >>> read_ticket(ticket, "another", b"secret") is read_ticket(ticket, "search", b"guessed") is None
    True
    """
    odds = b"" if row.first_propensity is None else _ODDS.pack(row.first_propensity, row.second_propensity)
    numbers = _NUMBERS.pack(row.session, row.number, row.first, row.second, row.issued, row.expires, len(odds))
    body = numbers + odds + f"{row.client or ''},{row.query or ''}".encode()
    return b2a_base64(_mac(body, tournament, secret) + body, newline=False).translate(_SAFE, b"=").decode()


def read_ticket(ticket: str, tournament: str, secret: bytes) -> DuelRow | None:
    """The duel of a ticket, as it was issued; None if the ticket was not made with this secret for this tournament."""
    if len(ticket) > _LONGEST or not ticket.isascii():
        return None
    try:
        signed = a2b_base64(ticket.encode().translate(_PLAIN) + b"=" * (-len(ticket) % 4))
    except ValueError:
        return None
    mac, body = signed[:_MAC], signed[_MAC:]
    if not hmac.compare_digest(mac, _mac(body, tournament, secret)):
        return None
    session, number, first, second, issued, expires, odds = _NUMBERS.unpack_from(body)
    names = _NUMBERS.size + odds
    first_odds, second_odds = _ODDS.unpack_from(body, _NUMBERS.size) if odds else (None, None)
    client, _, query = body[names:].decode().partition(",")  # a client is a hash, a query may have any character
    return DuelRow(
        session, number, query or None, client or None, first, second, first_odds, second_odds, issued, expires
    )


def _mac(body: bytes, tournament: str, secret: bytes) -> bytes:
    """HMAC-SHA256 of the tournament's name, a new line and the body."""
    begun = _begun(secret, tournament).copy()
    begun.update(body)
    return begun.digest()[:_MAC]


@lru_cache(maxsize=1000)
def _begun(secret: bytes, tournament: str) -> hmac.HMAC:
    """What is the same for all tickets of a tournament."""
    return hmac.new(secret, tournament.encode() + b"\n", sha256)
