"""Tickets: a duel that vouches for itself, so that it can be told even if a crash has swallowed the ask."""

import hmac
from binascii import a2b_base64, b2a_base64
from hashlib import sha256
from struct import Struct

from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.recent_cache import RecentCache

__all__ = ["Tickets"]

_KNOWN = 20_000  # tickets that need not be read when they come back: their duels are remembered
_MAC = 16  # bytes of HMAC-SHA256: 128 bits
_BLOCK = 64  # bytes that SHA-256 takes in at once
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
_LONGEST = 2_000  # characters of a ticket
_NUMBERS = Struct("<QQIIddB")  # session, number, first, second, issued, expires, bytes of the next
_ODDS = Struct("<dd")  # the propensities, where there are some
_SAFE, _PLAIN = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")  # base64 for addresses, and back


class Tickets:
    """The tickets of one tournament: it makes them, and knows the duels of those that come back.

    >>> row = DuelRow(1, 1, "q", None, 4, 2, None, None, issued=0.0, expires=60.0)
    >>> ticket = Tickets("search", b"secret").of(row)
    >>> Tickets("search", b"secret").read(ticket) == row
    True
    >>> Tickets("another", b"secret").read(ticket) is Tickets("search", b"guessed").read(ticket) is None
    True
    """

    def __init__(self, tournament: str, secret: bytes) -> None:
        # HMAC-SHA256 as RFC 2104 has it, begun with what is the same for all tickets.
        key = (sha256(secret).digest() if len(secret) > _BLOCK else secret).ljust(_BLOCK, b"\0")
        self._inner = sha256(key.translate(_INNER) + tournament.encode() + b"\n")
        self._outer = sha256(key.translate(_OUTER))
        self._made: RecentCache[str, DuelRow] = RecentCache(_KNOWN)

    def of(self, row: DuelRow) -> str:
        """The ticket of a duel."""
        session, number, query, client, first, second, first_odds, second_odds, issued, expires = row[:10]
        odds = b"" if first_odds is None else _ODDS.pack(first_odds, second_odds)
        numbers = _NUMBERS.pack(session, number, first, second, issued, expires, len(odds))
        body = numbers + odds + f"{client or ''},{query or ''}".encode()
        ticket = _encoded(self._mac(body) + body)
        self._made[ticket] = row
        return ticket

    def read(self, ticket: str) -> DuelRow | None:
        """The duel of a ticket, as it was issued; None if it was not made with this secret for this tournament."""
        return self._made.get(ticket) or self._read(ticket)

    def _read(self, ticket: str) -> DuelRow | None:
        if len(ticket) > _LONGEST or not ticket.isascii():
            return None
        try:
            signed = a2b_base64(ticket.encode().translate(_PLAIN) + b"=" * (-len(ticket) % 4))
        except ValueError:
            return None
        mac, body = signed[:_MAC], signed[_MAC:]
        if not hmac.compare_digest(mac, self._mac(body)) or _encoded(signed) != ticket:
            return None  # the decoder skips what is not of its alphabet, and ignores the last bits
        session, number, first, second, issued, expires, odds = _NUMBERS.unpack_from(body)
        names = _NUMBERS.size + odds
        first_odds, second_odds = _ODDS.unpack_from(body, _NUMBERS.size) if odds else (None, None)
        client, _, query = body[names:].decode().partition(",")  # a client is a hash, a query may have any character
        return DuelRow(
            session, number, query or None, client or None, first, second, first_odds, second_odds, issued, expires
        )

    def _mac(self, body: bytes) -> bytes:
        """HMAC-SHA256 of the tournament's name, a new line and the body."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(body)
        outer.update(inner.digest())
        return outer.digest()[:_MAC]


def _encoded(signed: bytes) -> str:
    return b2a_base64(signed, newline=False).translate(_SAFE, b"=").decode()
