"""Tickets: duels signed with HMAC-SHA256, which can be told even if a crash lost the ask."""

import hmac
from binascii import a2b_base64, b2a_base64
from struct import Struct

from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.recent_cache import RecentCache

__all__ = ["Tickets"]

_MAX_REMEMBERED_TICKETS = 20_000  # cached with their duels, so that they need no decoding
_MAC_BYTES = 16  # of HMAC-SHA256: 128 bits
_MAX_TICKET_CHARACTERS = 2_000
_NUMBERS = Struct("<QQIIddB")  # session, number, first, second, issued, expires, bytes of the propensities
_PROPENSITIES = Struct("<dd")  # only if the bandit needs them
_TO_URL_SAFE = bytes.maketrans(b"+/", b"-_")  # from base64 to URL-safe base64
_FROM_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class Tickets:
    """Signs and verifies the tickets of one tournament.

    >>> row = DuelRow(1, 1, "q", None, 4, 2, None, None, issued=0.0, expires=60.0)
    >>> ticket = Tickets("search", b"secret").of(row)
    >>> Tickets("search", b"secret").read(ticket) == row
    True
    >>> Tickets("another", b"secret").read(ticket) is Tickets("search", b"guessed").read(ticket) is None
    True
    """

    def __init__(self, tournament: str, secret: bytes) -> None:
        self._hmac = hmac.new(secret, tournament.encode() + b"\n", "sha256")  # the common prefix of all signed messages
        self._remembered: RecentCache[str, DuelRow] = RecentCache(_MAX_REMEMBERED_TICKETS)

    def of(self, row: DuelRow) -> str:
        """Return the ticket of a duel."""
        session, number, query, client, first, second, first_odds, second_odds, issued, expires = row[:10]
        odds = b"" if first_odds is None else _PROPENSITIES.pack(first_odds, second_odds)
        numbers = _NUMBERS.pack(session, number, first, second, issued, expires, len(odds))
        body = numbers + odds + f"{client or ''},{query or ''}".encode()
        ticket = _encoded(self._mac(body) + body)
        self._remembered[ticket] = row
        return ticket

    def read(self, ticket: str) -> DuelRow | None:
        """Return the duel of a ticket, as issued; None if the signature is invalid for this tournament."""
        return self._remembered.get(ticket) or self._decode(ticket)

    def _decode(self, ticket: str) -> DuelRow | None:
        if len(ticket) > _MAX_TICKET_CHARACTERS or not ticket.isascii():
            return None
        try:
            signed = a2b_base64(ticket.encode().translate(_FROM_URL_SAFE) + b"=" * (-len(ticket) % 4))
        except ValueError:
            return None
        mac, body = signed[:_MAC_BYTES], signed[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(body)) or _encoded(signed) != ticket:
            return None  # the second check: the decoder skips unknown characters and ignores the last bits
        session, number, first, second, issued, expires, odds = _NUMBERS.unpack_from(body)
        names = _NUMBERS.size + odds
        first_odds, second_odds = _PROPENSITIES.unpack_from(body, _NUMBERS.size) if odds else (None, None)
        client, _, query = body[names:].decode().partition(",")  # the client is a hash, so it has no comma
        return DuelRow(
            session, number, query or None, client or None, first, second, first_odds, second_odds, issued, expires
        )

    def _mac(self, body: bytes) -> bytes:
        """Return the HMAC-SHA256 of the tournament's name, a new line and the body, cut to 128 bits."""
        mac = self._hmac.copy()
        mac.update(body)
        return mac.digest()[:_MAC_BYTES]


def _encoded(signed: bytes) -> str:
    """Encode as URL-safe base64 without padding."""
    return b2a_base64(signed, newline=False).translate(_TO_URL_SAFE, b"=").decode()
