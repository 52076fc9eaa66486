"""A ticket has one spelling: with any one character inserted, left out or replaced it is unknown."""

from collections.abc import Iterator
from string import ascii_letters, digits

import pytest

from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.tickets import Tickets

ALPHABET = ascii_letters + digits + "-_"
OTHERS = "+/=., \t\n\r\v\f\0\x7f~%'\"\\é\u0661\u2028\ud800\U0001f600"
ROWS = [  # of three lengths, so that the last character of a ticket has 0, 2 and 4 bits that mean nothing
    DuelRow(3, 17, "q" * length, "c" * 32, 4, 2, 0.25, 0.5, issued=1e9, expires=1.1e9) for length in (1, 2, 3)
]


def changed(ticket: str) -> Iterator[str]:
    """Every text that differs from a ticket by one character."""
    for at in range(len(ticket) + 1):
        for character in ALPHABET + OTHERS:
            yield ticket[:at] + character + ticket[at:]
            if at < len(ticket) and character != ticket[at]:
                yield ticket[:at] + character + ticket[at + 1 :]
        if at < len(ticket):
            yield ticket[:at] + ticket[at + 1 :]


@pytest.mark.parametrize("row", ROWS)
def test_a_ticket_with_one_character_changed_is_unknown(row: DuelRow) -> None:
    """All insertions, deletions and substitutions of one character, of those of base64 and of others."""
    made, read = Tickets("search", b"secret"), Tickets("search", b"secret")
    ticket = made.of(row)
    for tickets in (made, read):  # one that knows the ticket, and one that must decode it
        assert tickets.read(ticket) == row
        assert [text for text in changed(ticket) if tickets.read(text) is not None] == []


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("more", ["=", "==", "===", "====", "\n", "A" * 4, "=AAA", " " * 8])
def test_a_ticket_with_something_appended_is_unknown(row: DuelRow, more: str) -> None:
    """Padding, white space or further characters at either end."""
    tickets = Tickets("search", b"secret")
    ticket = Tickets("search", b"secret").of(row)
    assert tickets.read(ticket + more) is None
    assert tickets.read(more + ticket) is None


def test_lengths_cover_all_paddings() -> None:
    """The tickets above end in a whole group of base64, and in groups of two and three characters."""
    assert {len(Tickets("search", b"secret").of(row)) % 4 for row in ROWS} == {0, 2, 3}
