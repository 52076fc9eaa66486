"""Tickets: a duel that vouches for itself, so that it can be told even if a crash has swallowed the ask."""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from rankduel.live.duels import DuelRow

__all__ = ["read_ticket", "ticket_of"]

_MAC = 16  # bytes of HMAC-SHA256: 128 bits
_LONGEST = 2_000  # characters of a ticket
_text = json.JSONEncoder(separators=(",", ":")).encode


def ticket_of(row: DuelRow, tournament: str, secret: bytes) -> str:
    """The ticket of a duel of a tournament.

    >>> row = DuelRow(1, 1, "q", None, 4, 2, None, None, issued=0.0, expires=60.0)
    >>> ticket = ticket_of(row, "search", b"secret")
    >>> read_ticket(ticket, "search", b"secret") == row
    True
    >>> read_ticket(ticket, "another", b"secret") is read_ticket(ticket, "search", b"guessed") is None
    True
    """
    body = _text(row[:10]).encode()
    return urlsafe_b64encode(_mac(body, tournament, secret) + body).rstrip(b"=").decode()


def read_ticket(ticket: str, tournament: str, secret: bytes) -> DuelRow | None:
    """The duel of a ticket, as it was issued; None if the ticket was not made with this secret for this tournament."""
    if len(ticket) > _LONGEST or not ticket.isascii():
        return None
    try:
        signed = urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
    except ValueError:
        return None
    mac, body = signed[:_MAC], signed[_MAC:]
    if not hmac.compare_digest(mac, _mac(body, tournament, secret)):
        return None
    return DuelRow(*json.loads(body))


def _mac(body: bytes, tournament: str, secret: bytes) -> bytes:
    return hmac.digest(secret, tournament.encode() + b"\n" + body, "sha256")[:_MAC]
