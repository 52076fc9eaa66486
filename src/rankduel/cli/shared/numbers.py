"""Parse whole numbers such as 1e8; format counts and durations."""

import argparse
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

__all__ = ["count", "duration", "whole"]


def whole(minimum: int) -> Callable[[str], int]:
    """An argparse type: a whole number of at least `minimum`; accepts 1e8 and 100_000.

    >>> whole(1)("1e8")
    100000000
    """

    def convert(text: str) -> int:
        try:
            value = Decimal(text)
            if value.is_finite() and value.adjusted() < 40 and value == value.to_integral_value() and value >= minimum:
                return int(value)
        except InvalidOperation:
            pass
        raise argparse.ArgumentTypeError(f"expected a whole number of at least {minimum}, got {text!r}")

    return convert


def count(number: float) -> str:
    """Format a number with about three digits.

    >>> count(950), count(12_345), count(3_400_000), count(2.5e9)
    ('950', '12.3k', '3.4M', '2.5G')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}" if number < 1000 * size else f"{number / size:,.0f}{unit}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """Format a time in its two largest units.

    >>> duration(8.2), duration(200), duration(7500)
    ('8 s', '3 min 20 s', '2 h 5 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"
